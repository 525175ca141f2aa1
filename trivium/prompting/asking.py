"""Ask a model many questions through an OpenAI-compatible endpoint, each only once.

Every answer is cached when it arrives, so that an interrupted run resumes and a rerun sends no request.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import TypeAlias

from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.prompting.answer_cache import AnswerCache, Reply
from trivium.prompting.endpoint import Chat, Endpoint, EndpointModel, RefusedError, StoppedError

_MOST_REFUSED = 5  # questions; a run ends when so many are refused before any is answered
Chats: TypeAlias = Mapping[str, Chat | Callable[[], Chat]]  # key → chat, or a function that makes it when it is sent


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
