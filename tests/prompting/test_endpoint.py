"""The endpoint's client against a server that misbehaves; what it may repeat, and what it may never say."""

import json
import os
import threading
import time
from dataclasses import replace
from unittest import mock

import pytest

from tests.prompting.loopback_endpoint import Loopback, Response, failed, said
from trivium.core.errors import BadInput
from trivium.prompting.endpoint import (
    Endpoint,
    EndpointModel,
    RefusedError,
    StoppedError,
    reply_of,
)

ASKED = [{"role": "user", "content": "Où ? « là »"}]
SAMPLING = {"temperature": 0.0, "max_tokens": 5}


def endpoint(server, key="", **changes):
    values = {"label": "tiny", "endpoint": server.address, "model": "tiny", "parallel": 1, "max_tokens": 5}
    values |= {"requests_per_minute": 60000, "timeout_s": 5, "retries": 3, "backoff_s": 0.01}
    values["key_variable"] = "TINY_KEY" if key else None
    with mock.patch.dict(os.environ, {"TINY_KEY": key}):
        return Endpoint(EndpointModel.model_validate(values | changes))


def in_turn(*responses):
    return Loopback(lambda number, _: responses[min(number, len(responses) - 1)])


def test_a_request_holds_model_messages_sampling_and_key():
    with in_turn(said("à Liège")) as server:
        reply = endpoint(server, "secret").ask(ASKED)
    assert (reply.content, reply.finish, reply.prompt_tokens, reply.completion_tokens) == ("à Liège", "stop", 10, 3)
    ((payload, headers, _),) = server.requests
    assert payload == {"model": "tiny", "messages": ASKED, **SAMPLING}
    assert headers["authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    ("trouble", "count"),
    [
        (failed(500), "server_errors"),
        (failed(503, headers={"Retry-After": "0"}), "server_errors"),
        (failed(429), "rate_limited"),
        (Response(None), "connections_lost"),
        (Response(b'{"choices": [{"mess'), "malformed"),
        (Response(b'"hello"'), "malformed"),
        (Response(b"[" * 100_000), "malformed"),
        (Response(b'{"choices": []}'), "malformed"),
        (Response(b'{"choices": [{"message": {"content": [1]}}]}'), "malformed"),
        (Response(b"<html>busy</html>", headers={"Content-Type": "text/html"}), "malformed"),
        (Response(b"\xff\xfe\x00", headers={"Content-Type": "application/json; charset=utf-8"}), "malformed"),
        (said("late", delay=0.6), "timeouts"),
    ],
)
def test_what_may_pass_is_tried_again(trouble, count):
    with in_turn(trouble, trouble, said("bien")) as server:
        asked = endpoint(server, timeout_s=0.3)
        assert asked.ask(ASKED).content == "bien"
    assert asked.counts == {"requests": 3, "retries": 2, count: 2}


def test_retry_after_is_honoured_by_all():
    with in_turn(failed(429, headers={"Retry-After": "1"}), said("bien")) as server:
        asked = endpoint(server)
        asked.ask(ASKED)
        thread = threading.Thread(target=asked.ask, args=(ASKED,))
        first, second = (at for _, _, at in server.requests)
        assert 1.0 <= second - first < 3
        asked._hold(0.3)
        thread.start()
        thread.join()
        assert server.requests[2][2] - second >= 0.3


def test_an_endpoint_that_never_answers_is_given_up():
    with in_turn(failed(500, "out of order")) as server:
        asked = endpoint(server, retries=2)
        with pytest.raises(BadInput, match=rf"{server.address}: field 'tiny': .*gave up after 3 requests.*500.*out of"):
            asked.ask(ASKED)
    assert asked.counts["requests"] == 3
    with pytest.raises(BadInput, match="gave up after 2 requests, the last: no connection"):
        endpoint(server, retries=1).ask(ASKED)


def test_an_address_where_nobody_listens_is_given_up_sooner_unless_it_has_answered():
    closing = {"Connection": "close"}
    with in_turn(replace(said("bien"), headers=closing), failed(503, headers=closing)) as server:
        asked, refused = endpoint(server, retries=6), endpoint(server, retries=0)
        asked.ask(ASKED)
        with pytest.raises(BadInput, match="503"):
            refused.ask(ASKED)
    refused._model = asked._model
    for client, requests in ((endpoint(server, retries=6), 3), (asked, 7), (refused, 7)):
        with pytest.raises(BadInput, match=f"gave up after {requests} requests, the last: no connection"):
            client.ask(ASKED)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (failed(401, "wrong key"), "401.*wrong key"),
        (failed(404, "no model tiny"), "404.*no model tiny"),
        (Response(b'{"detail": "pinned to huge"}', 404), "404.*pinned to huge"),
        (failed(429, "spent", code="insufficient_quota"), "429.*spent"),
        (failed(429, "later", headers={"Retry-After": "7200"}), "asks to wait for 7200 seconds"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(answer, message):
    with in_turn(answer) as server:
        asked = endpoint(server)
        with pytest.raises(BadInput, match=message):
            asked.ask(ASKED)
    assert asked.counts["requests"] == 1


def test_a_question_may_be_refused():
    with in_turn(failed(400, "too long")) as server, pytest.raises(RefusedError, match="too long"):
        endpoint(server).ask(ASKED)


@pytest.mark.parametrize("status", [400, 401, 500])
def test_no_message_holds_the_key(status):
    answer = failed(status, "no such key: sk-secret-1")
    with in_turn(answer) as server, pytest.raises((BadInput, RefusedError)) as caught:
        endpoint(server, "sk-secret-1", retries=0).ask(ASKED)
    assert "[key]" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_requests_keep_their_pace():
    with in_turn(said("bien")) as server:
        asked = endpoint(server, requests_per_minute=600)
        threads = [threading.Thread(target=asked.ask, args=(ASKED,)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    times = sorted(at for _, _, at in server.requests)
    assert times[-1] - times[0] >= 4 * 0.1 - 0.05


def test_waiting_can_be_stopped():
    with in_turn(failed(429, headers={"Retry-After": "60"})) as server:
        asked, caught = endpoint(server), []

        def ask():
            try:
                asked.ask(ASKED)
            except StoppedError as error:
                caught.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not asked.counts["rate_limited"]:
            time.sleep(0.01)
        asked.stop()
        thread.join(timeout=5)
    assert len(caught) == 1


def test_replies_are_taken_with_care():
    assert reply_of(said(None).body).content == ""
    assert reply_of(said("\ud83d\ude00 \ud800 \x00").body).content == "😀 \ufffd \x00"
    reply = reply_of(b'{"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": -1}}')
    assert (reply.finish, reply.prompt_tokens, reply.completion_tokens) == ("", 0, 0)
    reply = reply_of(b'{"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": 1%s}}' % (b"0" * 400))
    assert reply.prompt_tokens == 0


def completion(message, **usage):
    return json.dumps({"choices": [{"finish_reason": "stop", "message": message}], "usage": usage}).encode()


@pytest.mark.parametrize(
    ("message", "words", "thoughts"),
    [
        ({"content": [{"type": "text", "text": "à "}, {"type": "text", "text": "Liège"}]}, "à Liège", 0),
        ({"content": ["à Liège"]}, "à Liège", 0),
        ({"content": []}, "", 0),
        ({"content": "<think>Où ?</think>\n\nà Liège"}, "à Liège", 19),
        ({"content": "Où ?</think>à Liège"}, "à Liège", 12),
        ({"content": "<think>Où"}, "", 9),
        ({"content": "<think></think>à <think>a</think>Liège"}, "à Liège", 31),
        ({"content": "à Liège", "reasoning_content": "Où ?"}, "à Liège", 4),
        ({"content": "à Liège", "reasoning": "Où ?", "reasoning_details": [{"text": "Où ?"}]}, "à Liège", 4),
        ({"content": "à Liège", "reasoning_content": None}, "à Liège", 0),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Où ?"}]}, {"type": "text", "text": "là"}]}, "là", 4),
        ({"content": [{"type": "reasoning", "text": "Où ?"}, {"type": "output_text", "text": "là"}]}, "là", 4),
        ({"content": "a < b </thinking> <thin"}, "a < b </thinking> <thin", 0),
    ],
)  # fmt: skip
def test_thoughts_are_cut_off_and_counted(message, words, thoughts):
    reply = reply_of(completion(message, prompt_tokens=1, completion_tokens=2))
    assert (reply.content, reply.reasoning, reply.completion_tokens) == (words, thoughts, 2)


def strict(number, payload):
    """A server of today: it knows no max_tokens, has one temperature only, thinks aloud and answers in parts."""
    if "max_tokens" in payload:
        return failed(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    if "temperature" in payload:
        return failed(400, "Unsupported value: 'temperature'.")
    if payload["reasoning_effort"] != "low" or payload["max_completion_tokens"] != 5:
        return failed(422, "what effort?")
    return Response(completion({"content": [{"type": "text", "text": "<think>Où ?</think>là"}], "reasoning": "Bon."}))


def test_a_server_that_wants_other_parameters_gets_them():
    extra = {"max_completion_tokens": 5, "reasoning_effort": "low"}
    with Loopback(strict) as server:
        reply = endpoint(server, omit=["temperature", "max_tokens"], extra=extra).ask(ASKED)
        with pytest.raises(RefusedError, match="max_completion_tokens"):
            endpoint(server).ask(ASKED)
    assert (reply.content, reply.reasoning) == ("là", 23)
    assert server.requests[0][0] == {"model": "tiny", "messages": ASKED, **extra}
