"""A list of results equals a plain list, and says whether something may be missing."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

from lspkit.answer import Answer
from lspkit.types import Caveat, Location, Position, Range

PLACE = Location(Path("/p/a.py"), Range(Position(1, 2), Position(1, 3)), "file:///p/a.py")
LOADING = Caveat("index loading", "it still reads the project", "clangd")


def test_an_answer_is_a_list() -> None:
    answer = Answer([PLACE])
    assert answer == [PLACE]
    assert [PLACE, *answer] == [PLACE, PLACE]
    assert isinstance(answer, list)
    assert answer[0] is PLACE
    assert not Answer()


def test_an_answer_with_a_caveat_is_not_complete() -> None:
    assert Answer([PLACE]).complete
    answer = Answer([PLACE], [LOADING, LOADING])
    assert not answer.complete
    assert answer.caveats == (LOADING,)
    assert answer == [PLACE]


def test_an_answer_survives_pickling_and_copying() -> None:
    answer = Answer([PLACE], [LOADING])
    pickled = [
        pickle.loads(pickle.dumps(answer, number)) for number in range(pickle.HIGHEST_PROTOCOL + 1)
    ]
    for back in (*pickled, copy.copy(answer), copy.deepcopy(answer)):
        assert (type(back), back, back.caveats) == (Answer, [PLACE], (LOADING,))


def test_a_short_complete_answer_is_shown_as_a_list() -> None:
    assert repr(Answer()) == "[]"
    assert repr(Answer([1, 2])) == "[1, 2]"


def test_a_long_answer_is_shown_on_one_short_line() -> None:
    for answer in (Answer([PLACE] * 3000), Answer([PLACE], [LOADING]), Answer([], [LOADING])):
        assert len(repr(answer)) <= 200
        assert len(repr(answer).splitlines()) == 1
    assert "index loading" in repr(Answer([PLACE] * 3000, [LOADING]))


def test_the_text_has_a_line_for_each_result_up_to_a_limit() -> None:
    assert str(Answer([PLACE, PLACE])) == "/p/a.py:1:2\n/p/a.py:1:2"
    assert str(Answer()) == "no results"
    lines = str(Answer([PLACE] * 3000, [LOADING])).splitlines()
    assert len(lines) == 52
    assert lines[50:] == [
        "... and 2950 more",
        "perhaps not all: index loading: it still reads the project",
    ]
