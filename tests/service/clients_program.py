"""Several clients, each in a process of its own: python -m tests.service.clients_program ROOT N

Options: `--restart`, `--rounds R`. In each round all clients wait until a line comes on standard
input, and then connect (in the first round) and ask at the same moment. Each prints one line of
JSON per round: the process of the service and the answer, or the error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
import warnings

import lspkit
from lspkit.service import connect as connect_module  # noqa: F401 (before the fork)
from tests.scripted import ask


def main() -> None:
    """Start the clients, and open one gate after the other."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("count", type=int)
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--ready-timeout", type=float, default=60.0)
    arguments = parser.parse_args()
    gates = [os.pipe() for _ in range(arguments.rounds)]
    for _ in range(arguments.count):
        if os.fork() == 0:
            try:
                for _, opening in gates:
                    os.close(opening)
                client(arguments, [gate for gate, _ in gates])
            except BaseException:  # noqa: BLE001 (a forked child must not go on with main)
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
    for _, opening in gates:
        sys.stdin.readline()
        os.close(opening)
    for _ in range(arguments.count):
        os.wait()


def client(arguments: argparse.Namespace, gates: list[int]) -> None:
    """One client."""
    warnings.simplefilter("ignore")
    os.read(gates[0], 1)  # returns when the gate is open
    try:
        ws = lspkit.connect(
            arguments.root, restart=arguments.restart, ready_timeout=arguments.ready_timeout
        )
    except lspkit.LspkitError as problem:
        tell(error=type(problem).__name__, message=str(problem))
        return
    with ws:
        one_round(ws)
        for gate in gates[1:]:
            os.read(gate, 1)
            one_round(ws)


def one_round(ws: lspkit.Workspace) -> None:
    """Ask once, and print the answer."""
    found = ws._engine.client
    try:
        answer = ask(ws, timeout=100)
        tell(answer=answer, service=found.ready.pid, state=found.state)
    except lspkit.LspkitError as problem:
        tell(error=type(problem).__name__, message=str(problem), state=found.state)


def tell(**values: object) -> None:
    """Print one line; a single write, so that lines of several clients do not mix."""
    os.write(1, json.dumps(values).encode() + b"\n")


if __name__ == "__main__":
    main()
