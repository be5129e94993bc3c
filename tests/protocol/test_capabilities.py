"""One question for static and dynamic capabilities, with selectors honoured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lspkit.protocol.capabilities import (
    PROVIDERS,
    Capabilities,
    DocumentKey,
    Registration,
    look_up,
    selects,
)

PYTHON = DocumentKey("file:///top/src/app.py", "python")
C = DocumentKey("file:///top/lib/app.c", "c")
HOVER = "textDocument/hover"


def with_hover(selector: object) -> dict[str, Any]:
    return {"hoverProvider": {"documentSelector": selector}}


class _Meanwhile(dict[str, Any]):
    """Options of a registration; when they are read, another thread registers something."""

    def __init__(self, register: Callable[[], object]) -> None:
        super().__init__()
        self._register = register

    def get(self, key: str, default: object = None) -> object:
        self._register()
        return super().get(key, default)


class TestChangesMeanwhile:
    def test_a_registration_during_a_question_is_no_error_and_is_seen_afterwards(self) -> None:
        known = Capabilities()
        late = Registration("late", HOVER, {})
        options = _Meanwhile(lambda: known.register(late))
        known.register(Registration("first", HOVER, options))
        assert known.options(HOVER, PYTHON) == [options]
        assert known.options(HOVER, PYTHON) == [options, {}]

    def test_an_answer_from_before_a_registration_is_not_kept(self) -> None:
        known = Capabilities()
        late = Registration("late", HOVER, {})
        options = _Meanwhile(lambda: known.register(late))
        options["documentSelector"] = [{"language": "c"}]
        known.register(Registration("first", HOVER, options))
        assert not known.supports(HOVER, PYTHON)
        assert known.supports(HOVER, PYTHON)


class TestStatic:
    @pytest.mark.parametrize(
        "method", [method for method in PROVIDERS if "." not in PROVIDERS[method][0]]
    )
    @pytest.mark.parametrize(
        ("said", "expected"),
        [(True, True), ({}, True), ({"a": 1}, True), (False, False), (None, False)],
    )
    def test_a_provider_says_yes_by_true_or_by_options(
        self, method: str, said: object, expected: bool
    ) -> None:
        capabilities = Capabilities({PROVIDERS[method][0]: said})
        assert capabilities.supports(method, PYTHON) is expected

    @pytest.mark.parametrize(
        ("method", "provider", "option"),
        [
            ("textDocument/prepareRename", "renameProvider", "prepareProvider"),
            ("codeAction/resolve", "codeActionProvider", "resolveProvider"),
            ("workspace/diagnostic", "diagnosticProvider", "workspaceDiagnostics"),
        ],
    )
    def test_a_second_step_needs_its_option(self, method: str, provider: str, option: str) -> None:
        for said, expected in (
            (True, False),
            ({}, False),
            ({option: False}, False),
            ({option: True}, True),
        ):
            assert Capabilities({provider: said}).supports(method) is expected

    @pytest.mark.parametrize(
        "method",
        ["callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"],
    )
    def test_calls_come_with_the_call_hierarchy(self, method: str) -> None:
        assert Capabilities({"callHierarchyProvider": True}).supports(method)
        assert not Capabilities({"typeHierarchyProvider": True}).supports(method)

    def test_nothing_is_supported_by_a_server_that_says_nothing(self) -> None:
        assert not any(Capabilities().supports(method) for method in PROVIDERS)

    def test_a_method_that_nobody_knows_is_not_supported(self) -> None:
        assert not Capabilities({"xProvider": True}).supports("textDocument/x")

    def test_a_static_selector_is_honoured(self) -> None:
        capabilities = Capabilities(with_hover([{"language": "python"}]))
        assert capabilities.supports(HOVER, PYTHON)
        assert not capabilities.supports(HOVER, C)

    @pytest.mark.parametrize("selector", [None, "python", {}])
    def test_no_selector_means_every_document(self, selector: object) -> None:
        assert Capabilities(with_hover(selector)).supports(HOVER, C)

    def test_without_a_document_the_selector_is_not_looked_at(self) -> None:
        assert Capabilities(with_hover([{"language": "python"}])).supports(HOVER)


class TestDynamic:
    def test_a_registration_adds_and_its_end_takes_away(self) -> None:
        capabilities = Capabilities()
        assert not capabilities.supports(HOVER, PYTHON)
        registration = Registration("r", HOVER, {})
        capabilities.register(registration)
        assert capabilities.supports(HOVER, PYTHON)
        assert capabilities.unregister("r") == registration
        assert not capabilities.supports(HOVER, PYTHON)

    def test_taking_back_an_unknown_one_changes_nothing(self) -> None:
        capabilities = Capabilities()
        capabilities.register(Registration("r", HOVER, {}))
        assert capabilities.unregister("other") is None
        assert capabilities.supports(HOVER)

    def test_the_end_of_a_registration_leaves_the_static_one(self) -> None:
        capabilities = Capabilities({"hoverProvider": True})
        capabilities.register(Registration("r", HOVER, {}))
        capabilities.unregister("r")
        assert capabilities.supports(HOVER)

    def test_a_second_registration_of_an_id_replaces_the_first(self) -> None:
        capabilities = Capabilities()
        capabilities.register(Registration("r", HOVER, {}))
        capabilities.register(Registration("r", "textDocument/definition", {}))
        assert not capabilities.supports(HOVER)
        assert capabilities.supports("textDocument/definition")

    def test_selectors_of_several_registrations_add_up(self) -> None:
        capabilities = Capabilities()
        for language in ("python", "rust"):
            selector = [{"language": language}]
            capabilities.register(Registration(language, HOVER, {"documentSelector": selector}))
        assert capabilities.supports(HOVER, PYTHON)
        assert not capabilities.supports(HOVER, C)
        capabilities.unregister("python")
        assert not capabilities.supports(HOVER, PYTHON)

    def test_a_dynamic_selector_widens_a_static_one(self) -> None:
        capabilities = Capabilities(with_hover(["python"]))
        capabilities.register(Registration("r", HOVER, {"documentSelector": ["c"]}))
        assert capabilities.supports(HOVER, PYTHON)
        assert capabilities.supports(HOVER, C)

    def test_a_second_step_is_registered_under_the_first(self) -> None:
        capabilities = Capabilities()
        capabilities.register(Registration("r", "textDocument/rename", {}))
        assert not capabilities.supports("textDocument/prepareRename", PYTHON)
        capabilities.register(Registration("r", "textDocument/rename", {"prepareProvider": True}))
        assert capabilities.supports("textDocument/prepareRename", PYTHON)

    def test_calls_are_registered_under_the_hierarchy(self) -> None:
        capabilities = Capabilities()
        capabilities.register(Registration("r", "textDocument/prepareCallHierarchy", {}))
        assert capabilities.supports("callHierarchy/incomingCalls")
        assert not capabilities.supports("typeHierarchy/subtypes")

    def test_options_are_those_of_the_method_and_the_document(self) -> None:
        capabilities = Capabilities()
        capabilities.register(Registration("a", "x", {"n": 1, "documentSelector": ["python"]}))
        capabilities.register(Registration("b", "x", {"n": 2}))
        capabilities.register(Registration("c", "y", {"n": 3}))
        assert [options["n"] for options in capabilities.options("x", PYTHON)] == [1, 2]
        assert [options["n"] for options in capabilities.options("x", C)] == [2]
        assert [options["n"] for options in capabilities.options("x")] == [1, 2]

    def test_many_different_questions_are_answered_right(self) -> None:
        capabilities = Capabilities(with_hover([{"pattern": "**/*.py"}]))
        for number in range(5000):
            key = DocumentKey(f"file:///{number}.py", "python")
            assert capabilities.supports(HOVER, key)
        assert not capabilities.supports(HOVER, C)


class TestSelectors:
    @pytest.mark.parametrize(
        "filter",
        [
            *("python", "*", {}, {"language": "python"}, {"language": "*"}, {"scheme": "file"}),
            *({"pattern": "**/*.py"}, {"pattern": "**/src/*.{py,pyi}"}, {"scheme": "*"}),
            {"language": "python", "scheme": "file", "pattern": "**/app.*"},
            {"pattern": {"baseUri": "file:///top", "pattern": "src/*.py"}},
            {"pattern": {"baseUri": "file:///top/", "pattern": "src/*.py"}},
            {"pattern": {"baseUri": {"uri": "file:///top", "name": "r"}, "pattern": "**/*.py"}},
            {"language": None, "scheme": None, "pattern": None},
        ],
    )
    def test_a_filter_fits(self, filter: object) -> None:
        assert selects([filter], PYTHON)
        assert selects(["nothing", filter], PYTHON)

    @pytest.mark.parametrize(
        "filter",
        [
            *("c", "", {"language": "c"}, {"scheme": "untitled"}, {"pattern": "**/*.c"}, None, 3),
            *(
                {"language": "python", "scheme": "untitled"},
                {"language": "c", "pattern": "**/*.py"},
            ),
            {"pattern": {"baseUri": "file:///ro", "pattern": "**/*.py"}},
            {"pattern": {"baseUri": "file:///other", "pattern": "**/*.py"}},
            {"pattern": {"baseUri": "untitled:x", "pattern": "**/*.py"}},
            *({"pattern": {"pattern": "**/*.py"}}, {"pattern": {"baseUri": "file:///top"}}),
            *({"pattern": 3}, {"pattern": "[[{"}, {"language": ["python"]}),
        ],
    )
    def test_a_filter_does_not_fit(self, filter: object) -> None:
        assert not selects([filter], PYTHON)

    def test_an_empty_selector_fits_nothing(self) -> None:
        assert not selects([], PYTHON)

    def test_a_pattern_needs_a_file(self) -> None:
        unsaved = DocumentKey("untitled:app.py", "python")
        assert not selects([{"pattern": "**/*.py"}], unsaved)
        assert selects([{"scheme": "untitled"}], unsaved)


class TestLookUp:
    @pytest.mark.parametrize(
        ("dotted", "expected"),
        [
            *(("a", {"b": {"c": 1}, "b.d": 2}), ("a.b", {"c": 1}), ("a.b.c", 1)),
            *(("a.b.d", 2), ("x.y", 3), ("x.y.z", None), ("zero", 0), ("off", False)),
            *(("none", None), ("a.c", None), ("", None), (".", None), ("a.", None), ("p.q.r", 5)),
        ],
    )
    def test_a_dotted_place_is_found(self, dotted: str, expected: object) -> None:
        values = {
            "a": {"b": {"c": 1}, "b.d": 2},
            "x.y": 3,
            "zero": 0,
            "off": False,
            "none": None,
            "p": {"q": {"other": 4}},
            "p.q": {"r": 5},
        }
        assert look_up(values, dotted) == expected

    @pytest.mark.parametrize("values", [None, 3, "a", ["a"], True])
    def test_what_is_no_object_has_no_places(self, values: object) -> None:
        assert look_up(values, "a") is None
