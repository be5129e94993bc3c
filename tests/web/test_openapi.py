"""The OpenAPI document is valid, and every response is as it says."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

import hypothesis
import jsonschema
import pytest
from hypothesis import strategies as st

from lspkit.conversations import check_id
from lspkit.web.http_message import CODES
from lspkit.web.routes import openapi_document
from tests.web.web_site import Answer, WebSite

DOCUMENT = openapi_document()
OPERATIONS = [
    (path, method.upper(), operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


def validator(schema: Any) -> jsonschema.Draft202012Validator:
    """Checks values against a schema of the document."""
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def test_the_document_is_served_as_it_is(shared_web: WebSite) -> None:
    answer = shared_web.ask("GET", "/openapi.json")
    assert answer.json == json.loads(json.dumps(DOCUMENT))


def test_all_schemas_are_valid_and_all_references_lead_somewhere() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    text = json.dumps(DOCUMENT)
    named = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= schemas.keys()
    assert schemas.keys() - named == {"EventBody"}


def test_the_document_has_what_version_3_1_demands() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert DOCUMENT["info"].keys() >= {"title", "version"}
    ids = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(ids) == len(set(ids))
    for path, method, operation in OPERATIONS:
        in_path = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
        assert all(f"{{{name}}}" in path for name in in_path)
        assert path.count("{") == len(in_path)
        assert ("requestBody" in operation) == (method in ("PUT", "POST"))
        assert all(one["description"] for one in operation["responses"].values())


def check(operation: dict[str, Any], answer: Answer) -> None:
    """Whether a response is one of those that the document names."""
    expected = operation["responses"][str(answer.status)]
    kind = answer.headers["Content-Type"].partition(";")[0]
    if "content" not in expected:
        return
    schema = expected["content"][kind]["schema"]
    if kind.endswith("json"):
        validator(schema).validate(answer.json)
    if answer.status >= 400:
        assert CODES[answer.json["code"]] == answer.status


# Of an address in UTF-8: a lone surrogate cannot be in it.
@hypothesis.given(st.text(max_size=210) | st.characters(codec="utf-8").map(lambda one: f"a{one}"))
@hypothesis.example("a\n")
@hypothesis.example("\u202e")
@hypothesis.example("日本 x")
def test_the_document_allows_exactly_the_ids_that_are_accepted(id: str) -> None:
    [schema] = {
        json.dumps(one["schema"])
        for _, _, operation in OPERATIONS
        for one in operation["parameters"]
        if one["in"] == "path"
    }
    said = json.loads(schema)
    fits = said["minLength"] <= len(id) <= said["maxLength"]
    try:
        check_id(id)
    except ValueError:
        assert not (fits and re.fullmatch(said["pattern"], id))
    else:
        assert fits and re.fullmatch(said["pattern"], id)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [("SetCwd", "/home/me", ["", "home", "/\0"]), ("CheckFile", "a.py", ["", "\0"])],
)
def test_the_document_tells_which_paths_are_refused(
    web: WebSite, name: str, right: str, wrong: list[str]
) -> None:
    web.set_cwd("a", web.site.project)
    key, method = ("cwd", "PUT") if name == "SetCwd" else ("path", "POST")
    schema = validator(DOCUMENT["components"]["schemas"][name])
    assert schema.is_valid({key: right})
    for one in wrong:
        assert not schema.is_valid({key: one})
        address = f"/conversations/a/{'cwd' if method == 'PUT' else 'check'}"
        assert web.ask(method, address, {key: one}).status == 400


#: Ids and folders that exist, and any others.
ids = st.sampled_from(["a", "gone", "new"]) | st.text(max_size=210)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def bodies(web: WebSite) -> st.SearchStrategy[bytes | None]:
    """Right ones, JSON, and anything."""
    folder = str(web.site.project)
    words = st.sampled_from([folder, "a.scr", "/", "..", f"{folder}/a.scr"]) | st.text(max_size=20)
    right = st.builds(lambda key, value: {key: value}, st.sampled_from(["cwd", "path"]), words)
    return (
        (right | values).map(lambda value: json.dumps(value).encode())
        | st.binary(max_size=50)
        | st.none()
    )


def headers() -> st.SearchStrategy[dict[str, str | None]]:
    """Mostly those of a good client."""
    odd: list[dict[str, str | None]] = [
        {"Authorization": None},
        {"Authorization": "Bearer x"},
        {"Host": "evil.example"},
        {"Origin": "null"},
        {"Content-Type": "text/plain"},
    ]
    return st.sampled_from([*({} for _ in range(10)), *odd])


@pytest.mark.parametrize(
    ("path", "method", "operation"),
    [pytest.param(*one, id=one[2]["operationId"]) for one in OPERATIONS if one[0] != "/events"],
)
def test_every_response_is_as_the_document_says(
    web: WebSite, path: str, method: str, operation: dict[str, Any]
) -> None:
    web.set_cwd("a", web.site.project)
    gone = web.site.base / "gone"
    gone.mkdir(exist_ok=True)
    web.set_cwd("gone", gone)
    gone.rmdir()
    number = 25 if "{" in path else 4

    @hypothesis.settings(max_examples=number, deadline=None, derandomize=True, database=None)
    @hypothesis.given(
        ids, bodies(web), headers(), st.dictionaries(st.text(), st.text(), max_size=1)
    )
    def ask(id: str, body: bytes | None, more: dict[str, str | None], query: Any) -> None:
        words = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in query.items())
        address = path.replace("{id}", _quoted(id)) + (f"?{words}" if words else "")
        body = body if "requestBody" in operation else None
        check(operation, web.ask(method, address, raw=body, **more))

    ask()


def _quoted(text: str) -> str:
    return quote(text.encode(errors="surrogatepass"), safe="")


def test_every_event_is_as_the_document_says(web: WebSite) -> None:
    event = validator(DOCUMENT["components"]["schemas"]["EventBody"])
    web.set_cwd("a", web.site.project)
    (web.site.project / "b.scr").write_text("ERROR x\n", encoding="utf-8")
    with web.events() as following:
        web.check("a", "b.scr")
        while True:
            name, data = following()
            event.validate(data)
            if name == "diagnostics":
                break


def test_the_checker_finds_a_response_that_is_wrong() -> None:
    _, _, operation = next(one for one in OPERATIONS if one[2]["operationId"] == "get_cwd")
    kind = {"Content-Type": "application/json"}
    check(operation, Answer(200, kind, b'{"conversationId": "a", "cwd": "/"}'))
    with pytest.raises(jsonschema.ValidationError):
        check(operation, Answer(200, kind, b'{"conversationId": "a"}'))
    with pytest.raises(KeyError):
        check(operation, Answer(418, kind, b"{}"))
