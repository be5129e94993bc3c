"""Bodies in, messages out: what is read, what is forgiven, and what is salvaged of a broken one."""

from __future__ import annotations

import json
import sys

import pytest

from lspkit.protocol.wire import messages
from lspkit.protocol.wire.messages import (
    ErrorResponse,
    Malformed,
    NotificationMessage,
    PublishedDiagnostics,
    RequestMessage,
    ResponseMessage,
    parse,
)

PUSH = "textDocument/publishDiagnostics"


def body(**parts: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **parts}).encode()


def malformed(raw: bytes) -> Malformed:
    message = parse(raw)
    assert isinstance(message, Malformed)
    return message


class TestKinds:
    def test_a_method_with_an_id_is_a_request(self) -> None:
        message = parse(b'{"jsonrpc":"2.0","id":3,"method":"a/b","params":{"c":[1, 2]}}')
        assert message == RequestMessage(b"3", "a/b", b'{"c":[1, 2]}')

    def test_a_method_without_an_id_is_a_notification(self) -> None:
        assert parse(body(method="a/b")) == NotificationMessage("a/b", None)

    def test_params_and_results_stay_raw(self) -> None:
        assert parse(b'{"id":1,"result": {"a" : 1} }') == ResponseMessage(1, b'{"a" : 1}')

    def test_an_error_is_a_refusal_with_its_data_left_raw(self) -> None:
        raw = b'{"id":4,"error":{"code":-32801,"message":"changed","data":{"a":1}}}'
        assert parse(raw) == ErrorResponse(4, -32801, "changed", b'{"a":1}')

    def test_pushed_diagnostics_keep_their_items_raw(self) -> None:
        raw = b'{"method":"%s","params":{"uri":"file:///a","version":2,"diagnostics":[{}]}}'
        assert parse(raw % PUSH.encode()) == PublishedDiagnostics("file:///a", 2, b"[{}]")

    def test_a_request_that_is_named_like_a_push_is_still_a_request(self) -> None:
        assert parse(body(id=1, method=PUSH)) == RequestMessage(b"1", PUSH, None)

    def test_the_order_of_keys_makes_no_difference(self) -> None:
        assert parse(b'{"result":1,"id":2,"jsonrpc":"2.0"}') == ResponseMessage(2, b"1")


class TestTolerance:
    @pytest.mark.parametrize("raw", [b"7", b'"7"', b"7.0", b"null", b'"a b"', b"-1", b"1e3"])
    def test_the_id_of_a_request_is_kept_as_it_came(self, raw: bytes) -> None:
        message = parse(b'{"id": %s ,"method":"a"}' % raw)
        assert message == RequestMessage(raw, "a", None)

    @pytest.mark.parametrize("raw", [b"7", b'"7"', b"7.0", b"7.00"])
    def test_our_own_id_is_known_in_every_spelling(self, raw: bytes) -> None:
        assert parse(b'{"id":%s,"result":1}' % raw) == ResponseMessage(7, b"1")

    @pytest.mark.parametrize("raw", [b"null", b'"seven"', b"7.5", b"[7]", b"true"])
    def test_an_answer_to_no_id_of_ours_has_none(self, raw: bytes) -> None:
        assert parse(b'{"id":%s,"result":1}' % raw) == ResponseMessage(None, b"1")

    def test_an_error_of_null_beside_a_result_means_no_error(self) -> None:
        assert parse(body(id=1, result=2, error=None)) == ResponseMessage(1, b"2")

    def test_an_answer_without_a_result_has_the_result_null(self) -> None:
        assert parse(body(id=1)) == ResponseMessage(1, b"null")

    def test_an_error_wins_over_a_result(self) -> None:
        message = parse(body(id=1, result=None, error={"code": 5, "message": "no"}))
        assert message == ErrorResponse(1, 5, "no")

    @pytest.mark.parametrize("error", [{}, {"code": 0, "message": None}, {"code": 0.0}])
    def test_an_error_may_be_nearly_empty(self, error: object) -> None:
        assert parse(body(id=1, error=error)) == ErrorResponse(1, 0, "")

    def test_unknown_keys_and_a_missing_version_are_read_over(self) -> None:
        assert parse(b'{"method":"a","trace":{"b":[]}}') == NotificationMessage("a", None)

    def test_the_version_of_a_push_may_be_missing_null_or_a_float(self) -> None:
        push = {"uri": "file:///a", "diagnostics": []}
        for extra, version in (({}, None), ({"version": None}, None), ({"version": 3.0}, 3)):
            message = parse(body(method=PUSH, params={**push, **extra}))
            assert message == PublishedDiagnostics("file:///a", version, b"[]")

    def test_a_push_without_items_has_none(self) -> None:
        message = parse(body(method=PUSH, params={"uri": "file:///a"}))
        assert message == PublishedDiagnostics("file:///a", None, b"[]")

    def test_unicode_that_is_not_escaped_is_read(self) -> None:
        message = parse('{"method":"é🙂","params":"é🙂"}'.encode())
        assert message == NotificationMessage("é🙂", '"é🙂"'.encode())


class TestLoneSurrogates:
    def test_half_a_pair_in_a_method_is_replaced(self) -> None:
        assert parse(rb'{"method":"a\ud800b"}') == NotificationMessage("a\ufffdb", None)

    def test_half_a_pair_in_the_words_of_an_error_is_replaced(self) -> None:
        message = parse(rb'{"id":1,"error":{"code":1,"message":"\udc00!"}}')
        assert message == ErrorResponse(1, 1, "\ufffd!")

    def test_half_a_pair_in_a_raw_part_does_not_harm_the_message(self) -> None:
        message = parse(rb'{"id":1,"result":{"a":"x\ud83d"}}')
        assert isinstance(message, ResponseMessage)
        assert messages.decode_any(message.result) == {"a": "x\ufffd"}

    def test_a_whole_pair_is_left_alone(self) -> None:
        message = parse(rb'{"id":1,"method":"\ud83d\ude42 \ud83d"}')
        assert message == RequestMessage(b"1", "🙂 \ufffd", None)

    def test_what_we_send_has_them_replaced(self) -> None:
        raw = messages.response(b'"x"', {"a\ud800": ["\udfff"]})
        assert json.loads(raw) == {"jsonrpc": "2.0", "id": "x", "result": {"a\ufffd": ["\ufffd"]}}

    def test_mending_leaves_other_bytes_as_they_were(self) -> None:
        assert messages.replace_lone_surrogates(b'{ "a" : 1 }') == b'{ "a" : 1 }'
        assert messages.replace_lone_surrogates(rb'"\ud800"') == '"\ufffd"'.encode()

    def test_decoding_what_is_no_json_still_fails(self) -> None:
        with pytest.raises(ValueError):
            messages.decode_any(rb'{"a":"\ud800"')


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"null", b"3", b"[]", b'"text"', b"{}", b"not json", b'{"jsonrpc":"2.0"}'),
        *(b'{"id":1,"result":"\xff"}', b'{"id":1,"method":2}', b'[{"id":1,"method":"a"}]'),
        b'{"method":"%s","params":{"diagnostics":[]}}' % PUSH.encode(),
        b'{"method":"%s"}' % PUSH.encode(),
        b'{"id":1,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"id":1,"error":[]}',
        b'{"id":1,"error":{"code":1e999,"message":""}}',
    ],
)
def test_what_is_no_message_is_malformed_and_shows_a_sample(raw: bytes) -> None:
    message = malformed(raw)
    assert message.sample == raw[:200]
    assert message.reason


class TestSalvage:
    def test_a_broken_answer_names_the_request_that_it_answers(self) -> None:
        for raw in (b'{"id":5,"result":{"a":', b'{"result":{"id":9,},"id":"5"}', b'{"id":5.0,]'):
            message = malformed(raw)
            assert (message.answers, message.asked) == (5, None)

    def test_an_id_inside_of_the_result_is_not_the_id_of_the_message(self) -> None:
        for raw in (b'{"result":{"id":9},]', b'{"result":[{"id":9}', b'[{"id":9},]', b'"id":9'):
            assert malformed(raw).answers is None
        assert malformed(b'{"result":{"a":{"b":[]},"id":9},]').answers is None

    @pytest.mark.parametrize("broken", [b'"\xff"', b"NaN", b"[1,]", b"[" * 9999 + b"]" * 9999])
    def test_an_id_behind_a_long_result_is_found(self, broken: bytes) -> None:
        long = b'{"result":[{"method":"a","id":9},"%s",%s],"id":5%s}'
        for more in (b"", b' , "jsonrpc": "2.0" '):
            message = malformed(long % (b"a" * 100_000, broken, more))
            assert (message.answers, message.asked) == (5, None)

    def test_an_id_behind_long_params_is_that_of_the_request(self) -> None:
        for raw in (
            b'{"method":"a","params":["%s",NaN],"id":5}',
            b'{"a":["%s",NaN],"method":"a","id":5}',
        ):
            message = malformed(raw % (b"a" * 100_000))
            assert (message.answers, message.asked) == (None, b"5")

    @pytest.mark.parametrize(
        "end",
        [
            b'{"id":9}',  # the outer object was never closed
            b'{"id":9}]',
            b'{"id":9}],}',
            b'{"b":1,"id":9}],"c":2}',
            b'1],"id":9}Content-Length: 9\r\n\r\n{"id":9}',
        ],
    )
    def test_an_id_deep_in_the_end_of_a_long_result_is_not_taken(self, end: bytes) -> None:
        raw = b'{"result":["%s",NaN,%s' % (b"a" * 100_000, end)
        assert malformed(raw).answers is None

    def test_a_string_that_looks_like_an_id_is_not_one(self) -> None:
        assert malformed(rb'{"result":"\"id\":9, {\"id\":8}",]').answers is None

    @pytest.mark.parametrize("raw", [b"5", b'"five"', b"5.0", b"-2"])
    def test_a_broken_request_keeps_its_id_as_it_came(self, raw: bytes) -> None:
        message = malformed(b'{"id":%s,"method":"a","params":[}' % raw)
        assert (message.asked, message.answers) == (raw, None)

    def test_a_broken_notification_asks_and_answers_nothing(self) -> None:
        message = malformed(b'{"method":"a","params":[}')
        assert (message.asked, message.answers) == (None, None)

    def test_an_id_that_is_no_id_is_not_taken(self) -> None:
        for raw in (b'{"id":{"id":1},]', b'{"id":tru,"result":1}', b'{"id":'):
            assert malformed(raw).answers is None

    def test_bad_json_is_a_parse_error(self) -> None:
        assert malformed(b'{"id":1,"method":"a","params":[}').code == messages.PARSE_ERROR

    def test_bad_utf8_is_a_parse_error(self) -> None:
        assert malformed(b'{"id":1,"method":"a","params":"\xff"}').code == messages.PARSE_ERROR

    def test_json_that_ends_too_early_is_a_parse_error(self) -> None:
        assert malformed(b'{"id":1,"method":"a","params":{').code == messages.PARSE_ERROR

    def test_a_method_that_is_no_text_is_an_invalid_request(self) -> None:
        assert malformed(b'{"id":1,"method":7}').code == messages.INVALID_REQUEST

    def test_a_request_nested_too_deep_has_invalid_params(self) -> None:
        deep = b"[" * 100_000 + b"]" * 100_000
        message = malformed(b'{"id":1,"method":"a","params":%s}' % deep)
        assert (message.code, message.asked) == (messages.INVALID_PARAMS, b"1")

    def test_a_number_too_long_to_convert_is_no_id_of_ours(self) -> None:
        digits = b"9" * (sys.get_int_max_str_digits() + 1)
        for raw in (b'{"id":%s,"result":1}', b'{"id":%s,"result":]'):
            message = parse(raw % digits)
            assert getattr(message, "id", None) is None
            assert getattr(message, "answers", None) is None


class TestOurs:
    def test_a_request_without_params_leaves_them_out(self) -> None:
        assert json.loads(messages.request(1, "shutdown")) == {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "shutdown",
        }

    def test_empty_params_are_sent(self) -> None:
        assert json.loads(messages.notification("initialized", {}))["params"] == {}

    def test_an_answer_of_null_has_the_key_result(self) -> None:
        assert messages.response(b"1.0", None) == b'{"jsonrpc":"2.0","id":1.0,"result":null}'

    def test_a_refusal_has_no_result(self) -> None:
        assert json.loads(messages.error_response(b"null", -32601, "what?")) == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32601, "message": "what?"},
        }

    def test_messages_are_frozen(self) -> None:
        with pytest.raises(AttributeError):
            ResponseMessage(1, b"").id = 2  # type: ignore[misc]


def test_a_request_with_encoded_parameters_is_the_same_message():
    params = {"method": "definition", "params": {"path": "a.py"}}
    raw = messages.raw_request(7, "lsp/call", messages.encode(params))
    assert raw == messages.request(7, "lsp/call", params)
