"""A model behind an OpenAI-compatible endpoint, and its client: rate limit, retries, no key in any message."""

import json
import os
import random
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, field_validator

from trivium.core.errors import BadInput, redact
from trivium.core.parameters import Parameters
from trivium.prompting.answer_cache import Reply, without_thoughts

if TYPE_CHECKING:  # slow to import, and most runs need no request
    import openai

_RESERVED = {"model", "messages", "temperature", "max_tokens", "stream", "n"}  # a single answer, not streamed, is read
Chat: TypeAlias = list[dict[str, Any]]  # turns of `role` and `content`: a text, or parts of text and picture
LONGEST_WAIT = 900.0  # seconds; an endpoint that asks to wait longer has failed
_TRANSIENT = (408, 409, 425)  # status codes of transient errors, besides 429 and 5xx
_REFUSALS = (400, 413, 422)  # status codes: the question is too long, or its content is refused
_LONGEST_MESSAGE = 300
_TOKENS = 10**9  # counts of tokens above this are not believed
_WHEN_REFUSED = 2  # retries where no connection can be made, and none could be before
_THOUGHTS = ("reasoning_content", "reasoning")  # fields beside the content: vLLM, DeepSeek; OpenRouter


class EndpointModel(Parameters):
    """A model behind an endpoint."""

    label: str = Field(min_length=1, description="Name in messages and in the page's tables")
    endpoint: str | None = Field(description="Base URL, such as http://localhost:8000/v1; null: not run")
    model: str = Field(min_length=1, description="The endpoint's name for the model; cached answers go by it")
    temperature: float = Field(default=0.0, ge=0, le=2, description="0: the likeliest token every time")
    max_tokens: int = Field(default=128, ge=1, description="Longest answer, in the model's tokens")
    requests_per_minute: float = Field(gt=0, description="Requests started in a minute, at the most")
    parallel: int = Field(ge=1, le=256, description="Requests under way at a time")
    timeout_s: float = Field(gt=0, description="Seconds without a sign of the endpoint")
    retries: int = Field(
        default=6, ge=0, le=20, description="How often a question is asked again after a failure that may pass"
    )
    backoff_s: float = Field(gt=0, description="Seconds before that, doubled every time; Retry-After comes first")
    omit: tuple[Literal["temperature", "max_tokens"], ...] = Field(
        default=(), description="Not sent: what the endpoint refuses"
    )
    extra: dict[str, JsonValue] = Field(
        default={},
        description="Sent as well, such as max_completion_tokens or reasoning_effort; cached answers go by it",
    )
    key_variable: str | None = Field(
        pattern=r"^[A-Za-z_]\w*$", description="Environment variable with the key, null: the endpoint needs none"
    )

    @field_validator("endpoint")
    @classmethod
    def _address(cls, endpoint: str | None) -> str | None:
        if endpoint is None:
            return None
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
            raise ValueError("expected http(s)://host/path without user, password or query")
        return endpoint.rstrip("/")

    @field_validator("extra")
    @classmethod
    def _new(cls, extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if reserved := sorted(_RESERVED & extra.keys()):
            raise ValueError(f"set otherwise: {', '.join(reserved)}; expected what no other parameter says")
        return extra

    @property
    def sampling(self) -> dict[str, JsonValue]:
        """Parameters of the request that decide the answer besides model and messages."""
        usual: dict[str, JsonValue] = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {name: value for name, value in usual.items() if name not in self.omit} | self.extra


class RefusedError(Exception):
    """The endpoint refuses this question; it may answer others."""


class StoppedError(Exception):
    """Another question failed permanently while this one waited."""


class Endpoint:
    """One model behind one address; several threads may call `ask`. `BadInput`: see `key_from_environment`.

    Attributes:
        counts: `requests`, `retries`, `rate_limited`, `timeouts`, `connections_lost`, `server_errors`, `malformed`.
    """

    def __init__(self, model: EndpointModel) -> None:
        import openai

        self._model, self._key = model, key_from_environment(model.key_variable)
        self.address = str(model.endpoint)  # without one the client would take OpenAI's own
        client = openai.OpenAI(
            api_key=self._key or "none", base_url=self.address, timeout=model.timeout_s, max_retries=0
        )
        # The body is parsed here: the client accepts much that is not a chat completion.
        self._create: Any = client.chat.completions.with_raw_response.create
        self._next = 0.0  # when a request may start
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self.counts: Counter[str] = Counter()
        self._has_answered = False

    def ask(self, messages: Chat) -> Reply:
        """Get one answer to a chat.

        Raises:
            RefusedError: the endpoint says that this question is wrong (400, 413, 422).
            StoppedError: `stop` was called.
            BadInput: wrong key or model, no credit left, or no answer after all retries.
        """
        import openai

        retries = self._model.retries
        for attempt in range(retries + 1):
            self._wait_for_turn()
            self._count("requests")
            if attempt:
                self._count("retries")
            wait_s = None
            try:
                response = self._create(model=self._model.model, messages=messages, extra_body=self._model.sampling)
                self._has_answered = True
                return reply_of(response.content)
            except openai.APIStatusError as error:
                self._has_answered = True
                wait_s, problem = self._judge(error), self._describe(error)
            except openai.APITimeoutError:
                self._count("timeouts")
                problem = "no answer in time"
            except openai.APIConnectionError as error:
                self._count("connections_lost")
                problem = f"no connection: {self._describe(error.__cause__ or error)}"
                if type(error.__cause__).__name__ == "ConnectError" and not self._has_answered:  # httpx's
                    retries = min(retries, _WHEN_REFUSED)
            except ValueError as error:
                self._count("malformed")
                problem = f"not a chat completion: {self._describe(error)}"
            if attempt >= retries:
                break
            if wait_s is None:
                self._sleep(self._model.backoff_s * 2**attempt * random.uniform(0.75, 1.25))
            else:
                self._hold(wait_s)
        raise self._failure(f"gave up after {attempt + 1} requests, the last: {problem}")

    def stop(self) -> None:
        """Make all threads that wait raise `StoppedError`."""
        self._stopped.set()

    def _judge(self, error: "openai.APIStatusError") -> float | None:
        """Return the seconds that the endpoint asks to wait, None if it does not say; raises for a permanent error."""
        status, said = error.status_code, self._describe(error)
        if status in _REFUSALS:
            raise RefusedError(said)
        if status == 429 and error.code != "insufficient_quota":
            self._count("rate_limited")
        elif status >= 500 or status in _TRANSIENT:
            self._count("server_errors")
        else:
            raise self._failure(said)
        header = error.response.headers.get("retry-after", "")
        wait_s = float(header) if header.isdecimal() else None
        if wait_s is not None and wait_s > LONGEST_WAIT:
            raise self._failure(f"asks to wait for {wait_s:.0f} seconds ({said})")
        return wait_s

    def _failure(self, problem: str) -> BadInput:
        return BadInput(f"the endpoint fails: {problem}", file=self.address, field=self._model.model)

    def _describe(self, error: BaseException) -> str:
        text = str(error)
        if (body := getattr(error, "body", None)) and " - " not in text:
            text = f"{text} - {body}"  # a body not in OpenAI's own form is not in the client's message
        text = redact(text)
        if self._key:  # some endpoints repeat it
            text = text.replace(self._key, "[key]")
        return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 3] + "..."

    def _count(self, name: str) -> None:
        with self._lock:
            self.counts[name] += 1

    def _wait_for_turn(self) -> None:
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + 60 / self._model.requests_per_minute
        self._sleep(turn - now)

    def _hold(self, seconds: float) -> None:
        """Let no request start for so many seconds."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)

    def _sleep(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise StoppedError


def key_from_environment(variable: str | None) -> str:
    """Read the API key from an environment variable; "" where the endpoint needs none.

    Raises:
        BadInput: the variable is not set, or no HTTP header can hold its value, which is not shown.
    """
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise BadInput("no key in the environment", field="key_variable", got=variable,
                       expected="the variable set, or null where the endpoint needs no key")  # fmt: skip
    if not (key.isascii() and key.isprintable()):
        # The client's own message would show the key, escaped, which redaction does not recognise.
        raise BadInput("the key holds control or non-ASCII characters", field="key_variable", got=variable,
                       expected="printable ASCII")  # fmt: skip
    return key


def reply_of(body: bytes) -> Reply:
    """Parse the first choice of a chat completion, without the model's reasoning, which is only counted.

    Content may be a list of parts, as some servers send it. Reasoning is in `<think>` before the words, in a part of
    its own, or in a separate field.

    Raises:
        ValueError: not JSON, or not a chat completion.
    """
    try:
        completion: Any = json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    try:
        choice = completion["choices"][0]
        message = choice["message"]
        content = message["content"]
    except (TypeError, KeyError, IndexError):
        raise ValueError("no choice with a message") from None
    said, thought = _of_parts(content) if isinstance(content, list) else (content or "", 0)
    if not isinstance(said, str):
        raise ValueError("a message that is no text")
    words, cut = without_thoughts(said)
    thought += cut + sum(len(message[name]) for name in _THOUGHTS if isinstance(message.get(name), str))
    usage = completion.get("usage")
    used = [usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")]
    prompt, written = (number if type(number) is int and 0 <= number < _TOKENS else 0 for number in used)
    finish = choice.get("finish_reason")
    return Reply(_clean(words), finish if isinstance(finish, str) else "", prompt, written, thought)


def _of_parts(parts: list[Any]) -> tuple[str, int]:
    """Join the text of a content's parts; returns also how many characters of reasoning there are."""
    said, thought = "", 0
    for part in parts:
        match part:
            case str(text) | {"type": "text" | "output_text", "text": str(text)}:
                said += text
            case {"type": "thinking" | "reasoning" as kind, **rest}:
                inner = rest.get(kind, rest.get("text", ""))
                thought += len(_of_parts(inner)[0]) if isinstance(inner, list) else len(str(inner))
            case _:
                raise ValueError("a part of a message that is no text")
    return said, thought


def _clean(text: str) -> str:
    """Replace lone surrogates, which JSON may hold and UTF-8 may not, by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
