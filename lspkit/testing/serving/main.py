"""The scripted server itself: one thread, one loop, a list of timers.

A message is logged as soon as it arrives. Then, in this order: documents are updated, what the
script has to say at this moment is said, the answer is made, faults are applied, the answer goes
out (now, later, or never), diagnostics are published. Waiting for an answer of the client keeps
its other messages in the inbox, as a server with one thread would.
"""

from __future__ import annotations

import heapq
import json
import os
import select
import signal
import sys
import time
from collections import deque
from functools import partial

from lspkit.testing.serving import faults
from lspkit.testing.serving.faults import CODES, FAULTS, MOMENTS, Outgoing
from lspkit.testing.serving.language import COMPUTED, ScriptedDocument, defined_in
from lspkit.testing.serving.wire import Input, Output, Torn

TYPE_CHECKING = False  # `typing` itself takes longer to import than the rest of the server.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Grandchildren of the client: processes that the scripted server leaves behind.
#
# Each is a `sleep` that ends by itself after five minutes, so that a failed test run does not
# litter the machine for ever. `start_grandchild` returns when it runs its own program: from then
# on its session, its signals and its environment are what its kind says.

#: group: a plain child in the server's process group. session: a child in a session of its own.
#: escaped: double-forked, in a session of its own, deaf to SIGTERM, with an empty environment.
KINDS = ("group", "session", "escaped")

_PROGRAM = ("/bin/sleep", "300")


def start_grandchild(kind: str, inherit: bool) -> int:
    """Starts a grandchild and returns its pid. `inherit`: it keeps the server's output open."""
    ready, tell = os.pipe()  # close-on-exec: the read below ends when the program runs
    child = os.fork()
    if child == 0:
        try:
            if kind == "escaped" and os.fork() != 0:
                os._exit(0)
            _become(kind, inherit, tell)
        finally:
            os._exit(127)
    os.close(tell)
    answer = b""
    while chunk := os.read(ready, 64):
        answer += chunk
    os.close(ready)
    if kind == "escaped":
        os.waitpid(child, 0)
    return int(answer)


def _become(kind: str, inherit: bool, tell: int) -> None:
    if kind != "group":
        os.setsid()
    deaf = kind == "escaped"
    signal.signal(signal.SIGTERM, signal.SIG_IGN if deaf else signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0,) if inherit else (0, 1, 2):
        os.dup2(null, descriptor)
    os.write(tell, str(os.getpid()).encode())
    os.execve(_PROGRAM[0], _PROGRAM, {} if deaf else os.environ)


# Reads a script file and decides which of its orders are due.
#
# A script that says something unknown is refused at once, with status 64: a misspelt fault that
# is quietly passed over makes a test that cannot fail.


_WHICH = ("nth", "times", "run")
_KEYS: dict[str, Any] = {
    "encoding": "utf-16",
    "capabilities": {},
    "answers": {},
    "faults": [],
    "say": [],
    "diagnostics": {},
    "ignore": [],
    "grandchildren": [],
    "log": None,
}
_ENCODINGS = ("utf-8", "utf-16", "utf-32")
_IGNORABLE = ("shutdown", "exit", "eof", "SIGTERM")
_DIAGNOSTICS: dict[str, Any] = {"how": "push", "version": True, "on": ["open", "change"]}
_HOWS = ("push", "pull", "both", "none")
_OCCASIONS = ("open", "change", "save")


class BadScript(Exception):
    """The script is not what the documentation says."""


def load_script(path: str) -> dict[str, Any]:
    """The script with every default filled in."""
    try:
        with open(path, encoding="utf-8") as file:
            given = json.load(file)
    except (OSError, ValueError) as error:
        raise BadScript(f"{path}: {error}") from error
    _known("script", given, tuple(_KEYS))
    script: dict[str, Any] = {**_KEYS, **given}
    _one_of("encoding", script["encoding"], _ENCODINGS)
    for name in script["ignore"]:
        _one_of("ignore", name, _IGNORABLE)
    for fault in script["faults"]:
        _check_fault(fault)
    for order in script["say"]:
        _check_say(order)
    script["diagnostics"] = _diagnostics(script["diagnostics"])
    script["grandchildren"] = [_grandchild(item) for item in script["grandchildren"]]
    return script


def _known(what: str, given: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(given, dict):
        raise BadScript(f"{what} must be an object, not {given!r}")
    for key in given:
        _one_of(what, key, keys)


def _one_of(what: str, value: Any, choices: Any) -> None:
    if value not in choices:
        raise BadScript(f"{what}: {value!r} is none of {', '.join(choices)}")


def _check_fault(fault: Any) -> None:
    name: Any = fault.get("do") if isinstance(fault, dict) else None
    _one_of("do", name, tuple(FAULTS))
    _known(f"fault {name}", fault, ("on", "do", *_WHICH, *FAULTS[name][1]))
    if "on" not in fault:
        raise BadScript(f"fault {name} lacks 'on', the method at which it happens")
    if name in MOMENTS:
        _one_of("at", fault.get("at", "before"), MOMENTS[name])
    if name == "crash" and fault.get("signal") is not None:
        _one_of("signal", fault["signal"], [each.name for each in signal.Signals])
    if name == "error" and isinstance(fault.get("code"), str):
        _one_of("code", fault["code"], tuple(CODES))


def _check_say(order: Any) -> None:
    _known("say", order, ("when", *_WHICH, "seconds", "request", "notification", "wait"))
    if "when" not in order or ("request" in order) == ("notification" in order):
        raise BadScript(f"say needs 'when', and 'request' or 'notification': {order!r}")
    _known("request", order.get("request", {}), ("id", "method", "params"))
    _known("notification", order.get("notification", {}), ("method", "params"))


def _diagnostics(given: Any) -> dict[str, Any]:
    _known("diagnostics", given, tuple(_DIAGNOSTICS))
    chosen = {**_DIAGNOSTICS, **given}
    _one_of("diagnostics.how", chosen["how"], _HOWS)
    for occasion in chosen["on"]:
        _one_of("diagnostics.on", occasion, _OCCASIONS)
    return chosen


def _grandchild(given: Any) -> dict[str, Any]:
    order = {"kind": given} if isinstance(given, str) else given
    _known("grandchild", order, ("kind", "when", "inherit", *_WHICH))
    _one_of("grandchild", order.get("kind"), KINDS)
    return {"when": "start", "nth": 1, "inherit": False, **order}


def is_due(order: dict[str, Any], names: tuple[str, ...], counts: dict[str, int], run: int) -> bool:
    """Is this order for the present occurrence of a message?

    `names` are the message's method and, for a request of the client, "*". `counts` says how often
    each name was seen, the present time included.
    """
    wanted = order["on"] if "on" in order else order["when"]
    if wanted not in names or order.get("run", run) != run:
        return False
    first: int = order.get("nth", 1)
    times: int = order.get("times", 1 if "nth" in order else 0)
    count = counts.get(wanted, 0)
    return count >= first and (times == 0 or count < first + times)


def count_run(path: str) -> int:
    """Which start of this script is this one? Counted in a file beside it, safe in parallel."""
    descriptor = os.open(path + ".runs", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, b".")
        return os.lseek(descriptor, 0, os.SEEK_CUR)
    finally:
        os.close(descriptor)


#: Exit statuses: the command line or the script is wrong; the client sent a torn frame.
USAGE, TORN = 64, 70

_PUBLISH = "textDocument/publishDiagnostics"

#: The capability that goes with a method, for methods which only a script can answer.
_CAPABILITY = {
    "textDocument/declaration": "declarationProvider",
    "textDocument/typeDefinition": "typeDefinitionProvider",
    "textDocument/implementation": "implementationProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider",
    "textDocument/prepareTypeHierarchy": "typeHierarchyProvider",
    "textDocument/codeAction": "codeActionProvider",
    "textDocument/signatureHelp": "signatureHelpProvider",
}


class ServerLog:
    """The record that tests read: one JSON object per line, each written by one system call."""

    def __init__(self, path: str | None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._descriptor = None if path is None else os.open(path, flags, 0o600)

    def __call__(self, **entry: Any) -> None:
        if self._descriptor is not None:
            line = json.dumps({"pid": os.getpid(), "time": time.time(), **entry}) + "\n"
            os.write(self._descriptor, line.encode())


class ScriptedServer:
    def __init__(self, script: dict[str, Any], run: int) -> None:
        self.script = script
        self.run_number = run
        self.log = ServerLog(script["log"])
        self.input = Input(0)
        self.output = Output(1)
        self.reading = True
        self.last_uri = "file:///flood"
        self.documents: dict[str, ScriptedDocument] = {}
        self.encoding = "utf-16"
        self.state = "new"  # then: running, shut down
        self.counts: dict[str, int] = {}
        self.arrived: deque[dict[str, Any]] = deque()  # off the wire, not looked at
        self.inbox: deque[dict[str, Any]] = deque()  # put aside while waiting for the client
        self.timers: list[tuple[float, int, Callable[[], None]]] = []
        self.timer_number = 0
        self.unanswered: set[str] = set()  # JSON of the ids of our requests without an answer
        self.ask_number = 0
        self.seen_ids: set[str] = set()
        self.pending: dict[str, Outgoing] = {}  # answers that are delayed or held
        self.held: dict[int, list[Outgoing]] = {}  # by fault, for `reverse`

    # The loop.

    def run(self) -> None:
        self.log(start={"argv": sys.argv, "cwd": os.getcwd(), "run": self.run_number})
        names = self.count("start")
        self.speak(names)
        self.deliver(names, Outgoing(None))
        while True:
            self.receive(self.inbox.popleft() if self.inbox else self.read())

    def read(self) -> dict[str, Any]:
        """The next message off the wire. Timers run meanwhile."""
        while not (self.reading and self.arrived):
            self.pump()
        return self.arrived.popleft()

    def pump(self) -> None:
        timeout = max(0.0, self.timers[0][0] - time.monotonic()) if self.timers else None
        watched = [self.input.descriptor] if self.reading else []
        readable, _, _ = select.select(watched, [], [], timeout)
        while self.timers and self.timers[0][0] <= time.monotonic():
            heapq.heappop(self.timers)[2]()
        if not (readable and self.reading):
            return
        messages = self.input.read()
        if messages is None:
            self.log(eof=True)
            if "eof" not in self.script["ignore"]:
                self.leave()
            self.reading = False
            return
        for message in messages:
            self.log(got=message)
            self.arrived.append(message)

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        self.timer_number += 1  # breaks ties: actions cannot be compared
        heapq.heappush(self.timers, (time.monotonic() + seconds, self.timer_number, action))

    def count(self, *names: str) -> tuple[str, ...]:
        """Counts one occurrence of what goes by these names; orders are looked up by them."""
        for name in names:
            self.counts[name] = self.counts.get(name, 0) + 1
        return names

    def leave(self) -> None:
        status = 0 if self.state == "shut down" else 1
        self.log(end=status)
        os._exit(status)

    # What comes in.

    def receive(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            self.take_reply(message)
            return
        is_request = "id" in message
        params = message.get("params") or {}
        self.check_order(method, message)
        names = self.count(method, "*") if is_request else self.count(method)
        if method in self.script["ignore"]:
            return
        self.note(method, params)
        self.speak(names)
        out = Outgoing(self.answer(method, message["id"], params) if is_request else None)
        if method == "exit":
            out.then.append(self.leave)
        self.deliver(names, out)
        self.publish_after(method, params)

    def check_order(self, method: str, message: dict[str, Any]) -> None:
        """Logs what a client must not do; the server goes on."""
        if (self.state == "new") != (method == "initialize") and method != "exit":
            self.log(violation=f"{method} while the server is {self.state}")
        if self.state == "shut down" and method != "exit":
            self.log(violation=f"{method} after shutdown")
        if "id" in message:
            key = json.dumps(message["id"])
            if key in self.seen_ids:
                self.log(violation=f"{method} uses the id {key} again")
            self.seen_ids.add(key)

    def note(self, method: str, params: dict[str, Any]) -> None:
        """Notifications that change what the server knows."""
        try:
            if method == "$/cancelRequest":
                self.cancel(params["id"])
            elif method.startswith("textDocument/did"):
                trouble = self.update(method.removeprefix("textDocument/did"), params)
                if trouble:
                    self.log(violation=f"{method}: {trouble}")
        except (KeyError, TypeError, AttributeError) as error:
            self.log(violation=f"{method}: bad parameters: {error!r}")

    def update(self, event: str, params: dict[str, Any]) -> str | None:
        item = params["textDocument"]
        uri = self.last_uri = item["uri"]
        document = self.documents.get(uri)
        if event == "Open":
            self.documents[uri] = ScriptedDocument(
                uri, item["version"], item["text"], self.encoding
            )
            return "is open already" if document else None
        if document is None:
            return f"{uri} is not open"
        if event == "Close":
            del self.documents[uri]
        if event == "Change":
            grown = item["version"] > document.version
            document.version = item["version"]
            troubles = [document.change(change) for change in params["contentChanges"]]
            troubles.append(None if grown else f"version {item['version']} is not newer")
            return next((trouble for trouble in troubles if trouble), None)
        return None

    def cancel(self, request: Any) -> None:
        out = self.pending.pop(json.dumps(request), None)
        if out is not None:
            error = {"code": CODES["RequestCancelled"], "message": "cancelled"}
            out.message = {"jsonrpc": "2.0", "id": request, "error": error}
            self.send(out)

    def take_reply(self, message: dict[str, Any]) -> None:
        key = json.dumps(message.get("id"))
        if key not in self.unanswered:
            self.log(violation=f"an answer to {key}, which was not asked or is answered already")
        if ("result" in message) == ("error" in message):
            self.log(violation=f"the answer to {key} must have either a result or an error")
        self.unanswered.discard(key)

    # What goes out.

    def answer(self, method: str, request: Any, params: dict[str, Any]) -> dict[str, Any]:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request}
        if self.state == "new" and method != "initialize":
            return {**reply, "error": {"code": CODES["ServerNotInitialized"], "message": "not yet"}}
        try:
            return {**reply, "result": self.result(method, params)}
        except NotImplementedError as error:
            return {**reply, "error": {"code": CODES["MethodNotFound"], "message": str(error)}}
        except (KeyError, TypeError, AttributeError) as error:
            self.log(violation=f"{method}: bad parameters: {error!r}")
            return {**reply, "error": {"code": CODES["InvalidParams"], "message": repr(error)}}

    def result(self, method: str, params: dict[str, Any]) -> Any:
        made: Any = None
        if method == "initialize":
            self.state = "running"
            made = {"capabilities": self.capabilities(params), "serverInfo": {"name": "scripted"}}
        elif method == "shutdown":
            self.state = "shut down"
        elif method not in self.script["answers"]:
            if method not in COMPUTED:
                raise NotImplementedError(f"no answer to {method} in the script")
            made = COMPUTED[method](self.documents, params)
        return self.script["answers"].get(method, made)

    def capabilities(self, params: dict[str, Any]) -> dict[str, Any]:
        offered = params.get("capabilities", {}).get("general", {}).get("positionEncodings", [])
        if self.script["encoding"] in offered:
            self.encoding = self.script["encoding"]
        offer: dict[str, Any] = {
            "positionEncoding": self.encoding,
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "definitionProvider": True,
            "referencesProvider": True,
            "hoverProvider": True,
            "documentSymbolProvider": True,
            "workspaceSymbolProvider": True,
            "renameProvider": True,
        }
        if self.script["diagnostics"]["how"] in ("pull", "both"):
            kinds = {"interFileDependencies": False, "workspaceDiagnostics": False}
            offer["diagnosticProvider"] = kinds
        offer |= {_CAPABILITY[name]: True for name in self.script["answers"] if name in _CAPABILITY}
        offer |= self.script["capabilities"]
        return {name: value for name, value in offer.items() if value is not None}

    def speak(self, names: tuple[str, ...]) -> None:
        """Starts the grandchildren and says the things that are due at this moment."""
        for order in self.script["grandchildren"]:
            if is_due(order, names, self.counts, self.run_number):
                pid = start_grandchild(order["kind"], order["inherit"])
                self.log(grandchild={"kind": order["kind"], "pid": pid})
        for order in self.script["say"]:
            if not is_due(order, names, self.counts, self.run_number):
                continue
            if "seconds" in order:
                self.later(order["seconds"], partial(self.say, order))
            else:
                self.say(order)

    def say(self, order: dict[str, Any]) -> None:
        if "notification" in order:
            self.emit({"jsonrpc": "2.0", **order["notification"]})
            return
        self.ask_number += 1
        request = {"jsonrpc": "2.0", "id": f"ask-{self.ask_number}", **order["request"]}
        key = json.dumps(request["id"])
        self.unanswered.add(key)
        self.emit(request)
        while order.get("wait") and key in self.unanswered:
            message = self.read()
            if "method" in message:
                self.inbox.append(message)
            else:
                self.take_reply(message)

    def emit(self, message: dict[str, Any]) -> None:
        """Sends a message of our own; faults may be ordered on its method, too."""
        self.deliver(self.count(message["method"]), Outgoing(message))

    def publish_after(self, method: str, params: dict[str, Any]) -> None:
        event = method.removeprefix("textDocument/did").lower()
        how = self.script["diagnostics"]
        if how["how"] not in ("push", "both") or event not in (*how["on"], "close"):
            return
        uri = params["textDocument"]["uri"]
        document = self.documents.get(uri)
        publication: dict[str, Any] = {"uri": uri, "diagnostics": []}
        if document is not None:
            publication["diagnostics"] = document.diagnostics(defined_in(self.documents))
            if how["version"]:
                publication["version"] = document.version
        self.emit({"jsonrpc": "2.0", "method": _PUBLISH, "params": publication})

    def deliver(self, names: tuple[str, ...], out: Outgoing) -> None:
        for fault in self.script["faults"]:
            if is_due(fault, names, self.counts, self.run_number):
                faults.apply(self, out, fault)
        if out.dropped:
            return
        if (out.hold or out.delay) and out.message is not None and "method" not in out.message:
            self.pending[json.dumps(out.message["id"])] = out
        if out.hold:
            self.hold(out, *out.hold)
        elif out.delay:
            self.later(out.delay, partial(self.send, out))
        else:
            self.send(out)

    def hold(self, out: Outgoing, fault: int, count: int) -> None:
        held = self.held.setdefault(fault, [])
        held.append(out)
        if len(held) >= count:
            del self.held[fault]
            for each in reversed(held):
                self.send(each)

    def send(self, out: Outgoing) -> None:
        if out.sent:  # a cancelled request was answered earlier than planned
            return
        out.sent = True
        if out.message is not None and "id" in out.message:
            self.pending.pop(json.dumps(out.message["id"]), None)
        self.output.write(out.data(), drip=out.drip)
        for action in out.then:
            action()


def main(argv: list[str], kind: type[ScriptedServer] = ScriptedServer) -> int:
    """Runs a script. `kind` is for servers that do more than a script can say."""
    if len(argv) != 2:
        sys.stderr.write("usage: scripted_server.py SCRIPT.json (see docs/testing.md)\n")
        return USAGE
    try:
        script = load_script(argv[1])
    except BadScript as error:
        sys.stderr.write(f"bad script: {error}\n")
        return USAGE
    if "SIGTERM" in script["ignore"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback when a terminal interrupts
    counted = (*script["faults"], *script["say"], *script["grandchildren"])
    run = count_run(argv[1]) if any("run" in order for order in counted) else 1
    server = kind(script, run)
    try:
        server.run()
    except Torn as torn:
        server.log(torn=str(torn))
        return TORN
    return 0
