"""Which words of the texts are left unexplained by an answer, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lspkit.answer import NOT_ASKED, UNEXPLAINED, Answer
from lspkit.errors import RequestFailedError, RequestTimeoutError
from lspkit.operations import ReferencesRequest, RenameRequest
from lspkit.operations.references.word_net import Meaning, may_mean
from lspkit.servers.project.word_search import Word, words_in
from lspkit.types import Location, Position, Range
from tests.operations.driving import PATH, Canned, Engine, location

URI, OTHER = "file:///code/a.py", "/code/b.py"
DEFINITION, REFERENCES = "textDocument/definition", "textDocument/references"
FUNCTION = Meaning("it", PATH, ())
MEMBER = Meaning("it", PATH, (), owner="Box")
PARAMETER = Meaning("it", PATH, (), is_parameter=True)


@pytest.mark.parametrize(
    ("line", "name", "function", "member", "parameter"),
    [
        ("it()", "b.py", True, False, False),
        ("box.it", "b.py", True, True, False),
        ("self.it", "b.py", False, True, False),
        ("this.it", "b.ts", False, True, False),
        ("def it():", "b.py", False, False, False),
        ("export function it() {", "b.ts", False, False, False),
        ("f(it=1)", "b.py", True, True, True),
        ("    it=1,", "b.py", True, True, True),
        ("it == 1", "b.py", True, False, False),
        # Other languages name a member in many ways.
        ("const { it } = box", "b.ts", True, True, False),
    ],
)
def test_what_stands_beside_a_word_says_what_it_cannot_mean(
    line: str, name: str, function: bool, member: bool, parameter: bool
) -> None:
    (word,) = words_in(line, ["it"], name)
    found = [may_mean(word, f"/code/{name}", one) for one in (FUNCTION, MEMBER, PARAMETER)]
    assert found == [function, member, parameter]


@dataclass
class Driven(Engine):
    """A host with one server, which has one reference to `one` in `a.py`."""

    #: What is defined where the words are.
    meanings: list[Any] = field(default_factory=list)

    def do_all(self, *_: Any) -> list[Any]:
        return self.meanings


def engine(words: list[Word], *meanings: Any) -> Driven:
    answers = {REFERENCES: [HERE], DEFINITION: [HERE]}
    return Driven(
        [Canned(answers=answers)], TEXT, words={OTHER: tuple(words)}, meanings=[*meanings]
    )


def place(path: str, line: int, column: int) -> Answer[Location]:
    start, end = Position(line, column), Position(line, column + 3)
    return Answer([Location(Path(path), Range(start, end), f"file://{path}")])


def asked(engine: Engine) -> list[str]:
    return [method for _, method, _ in engine.asked]


HERE = location(URI, 0, 0, 3)
REQUEST = ReferencesRequest(path=PATH, line=1, column=1)
#: Every file has this text.
TEXT = "one\ntwo\nfrom missing import one\n"
WORD = Word(3, 21, "one", before="    ")


def test_an_answer_that_explains_every_word_is_asked_for_once() -> None:
    driven = engine([])
    assert driven.run(REQUEST).complete
    assert asked(driven).count(REFERENCES) == 1
    assert driven.opened == []


def test_a_word_that_leads_to_the_symbol_is_a_place() -> None:
    driven = engine([WORD], place(PATH, 1, 1))
    found = driven.run(REQUEST)
    places = [(str(one.path), one.line, one.column) for one in found]
    assert places == [(PATH, 1, 1), (OTHER, 3, 21)]
    assert found.complete
    assert driven.opened == [OTHER]
    assert asked(driven).count(REFERENCES) == 2


@pytest.mark.parametrize(
    ("before", "meaning", "kinds"),
    [
        ("    ", Answer(), [UNEXPLAINED]),
        ("    ", RequestFailedError("no"), [UNEXPLAINED]),
        ("    ", RequestTimeoutError("too late"), [NOT_ASKED]),
        ("    ", place("/code/c.py", 7, 1), []),
        ("    ", place(OTHER, 3, 21), []),
        # It leads no farther than to the import of a module that is not known.
        ("from missing import ", place(OTHER, 3, 21), [UNEXPLAINED]),
    ],
)
def test_a_word_that_leads_nowhere_is_named_and_one_that_leads_elsewhere_is_not(
    before: str, meaning: Any, kinds: list[str]
) -> None:
    found = engine([msgspec.structs.replace(WORD, before=before)], meaning).run(REQUEST)
    assert len(found) == 1
    assert [(one.kind, len(one.places)) for one in found.caveats] == [(one, 1) for one in kinds]


def test_a_rename_without_words_elsewhere_is_the_edit_of_the_server() -> None:
    edit = {"changes": {URI: [{"range": location(URI, 0, 0, 3)["range"], "newText": "two"}]}}
    answers = {"textDocument/rename": edit, "textDocument/prepareRename": {"defaultBehavior": True}}
    driven = Engine([Canned(answers=answers)], TEXT)
    found = driven.run(RenameRequest(path=PATH, line=1, column=1, new_name="two"))
    assert found.complete
    assert asked(driven).count("textDocument/rename") == 1
