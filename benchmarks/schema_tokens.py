"""What the schemas of the tools cost a model in tokens: python benchmarks/schema_tokens.py

Every conversation pays for them, so there is a budget. The counts are by real vocabularies, those
of `bpe-openai`: its wheel carries them, so that nothing is fetched when it runs (`tiktoken` would).
Vendors render tools into prompts in ways of their own, mostly more tersely than JSON; what is
counted here is the JSON that a host sends, once without spaces and once as `json.dumps` has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, get_args

from lspkit.agent import ESSENTIAL, TABLE, Style, tool_schemas

#: Tokens, of the tools that every agent needs and of all.
ESSENTIAL_BUDGET = 900
ALL_BUDGET = 1600

VOCABULARIES = ("o200k_base", "cl100k_base")
SPACED = {"without": (",", ":"), "with": (", ", ": ")}


@dataclass(frozen=True)
class Count:
    """Tokens of one style."""

    vocabulary: str
    style: str
    spaces: str
    essential: int
    all: int
    single: int


def counted() -> Iterator[Count]:
    """The tokens of every style, by every vocabulary."""
    for vocabulary in VOCABULARIES:
        tokens = tokens_by(vocabulary)
        for style in get_args(Style):
            tools = tool_schemas(style, "per-operation")
            needed = [one for one, row in zip(tools, TABLE, strict=True) if row.tool in ESSENTIAL]
            single = tool_schemas(style, "single")
            for spaces, separators in SPACED.items():
                texts = (
                    json.dumps(one, ensure_ascii=False, separators=separators)
                    for one in (needed, tools, single)
                )
                yield Count(vocabulary, style, spaces, *map(tokens, texts))


def tokens_by(vocabulary: str) -> Callable[[str], int]:
    """How many tokens a text has."""
    import bpe_openai  # here: the budgets are wanted also where it is not installed

    encoding: Any = bpe_openai.get_encoding(vocabulary)
    return lambda text: len(encoding.encode(text))


def main() -> int:
    """Print a table and keep the numbers; the status says whether the budget is kept."""
    from sections import table, write_section  # beside this file, which is run as a program

    rows = [asdict(one) for one in counted()]
    print(table(list(rows[0]), [list(one.values()) for one in rows]))
    budget = {"essential": ESSENTIAL_BUDGET, "all": ALL_BUDGET}
    print(f"budget: {budget}")
    write_section("schema_tokens", {"tokens": rows, "budget": budget})
    over = [one for one in rows for name, most in budget.items() if one[name] > most]
    return 1 if over else 0


if __name__ == "__main__":
    raise SystemExit(main())
