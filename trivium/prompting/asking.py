"""Ask a model many questions through an OpenAI-compatible endpoint, each only once.

Every answer is cached when it arrives, so that an interrupted run resumes and a rerun sends no request.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, field_validator
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.prompting.answer_cache import AnswerCache, Reply

_MOST_REFUSED = 5  # questions; a run ends when so many are refused before any is answered
_RESERVED = {"model", "messages", "temperature", "max_tokens", "stream", "n"}  # a single answer, not streamed, is read
Chat: TypeAlias = list[dict[str, Any]]  # turns of `role` and `content`: a text, or parts of text and picture
Chats: TypeAlias = Mapping[str, Chat | Callable[[], Chat]]  # key → chat, or a function that makes it when it is sent


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


def ask_all(model: EndpointModel, chats: Chats, cache: AnswerCache) -> tuple[dict[str, Reply], Counter[str]]:
    """Get replies to the chats, by key, from the cache or from the endpoint; returns counts, too.

    Only final replies are cached; what a filter withheld may be asked again. Of several runs that miss answers of one
    model, one asks at a time, and the others then use its answers.

    Raises:
        BadInput: no key, every question is refused, or the endpoint fails; earlier replies are in the cache.
    """
    replies, requests = dict[str, Reply](), Counter[str]()
    if missing := _missing(chats, cache):
        with cache.lock_model(model.model, f"{model.label}: another run asks this model; waiting for its answers"):
            if missing := _missing(chats, cache):
                replies, requests = _ask(model, chats, missing, cache)
    counts = Counter(cached=len(chats) - len(missing))
    counts.update(requests)
    kept = ((key, replies.get(key) or cache.get(key)) for key in chats)
    return {key: reply for key, reply in kept if reply is not None}, counts


def _missing(chats: Chats, cache: AnswerCache) -> list[str]:
    return [key for key in chats if cache.get(key) is None]


def _ask(
    model: EndpointModel, chats: Chats, missing: Sequence[str], cache: AnswerCache
) -> tuple[dict[str, Reply], Counter[str]]:
    """Ask the endpoint for the missing chats; returns replies by key, and its counts."""
    # Its client is slow to import, and most runs need no request.
    from trivium.prompting.endpoint import Endpoint, RefusedError, StoppedError

    endpoint = Endpoint(model)
    replies: dict[str, Reply] = {}
    refused: list[str] = []
    before = len(chats) - len(missing)  # answered in an earlier run

    def ask(key: str) -> None:
        try:
            chat = chats[key]
            reply = replies[key] = endpoint.ask(chat() if callable(chat) else chat)
            if reply.final:
                cache.put(key, reply, model=model.model)
        except RefusedError as error:
            refused.append(key)
            if not before and not replies and len(refused) >= min(_MOST_REFUSED, len(missing)):
                endpoint.stop()
                raise BadInput(f"every question is refused: {error}", file=model.endpoint) from None
            print(f"{model.label}: a question is refused: {error}")

    pool = ThreadPoolExecutor(model.parallel)
    futures = [pool.submit(ask, key) for key in missing]
    try:
        for future in tqdm(as_completed(futures), total=len(missing), desc=model.label, unit="answer", mininterval=5):
            with suppress(StoppedError):  # the error of another question says why
                future.result()
    finally:
        endpoint.stop()
        pool.shutdown(cancel_futures=True)
    return replies, endpoint.counts + Counter(not_kept=sum(not reply.final for reply in replies.values()))
