"""Who reads and who identifies for `trivium ask`: a folder, or a model behind an endpoint, paid once an answer."""

import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.errors import BadInput
from trivium.core.folding import find_folded
from trivium.core.parameters import read_parameters, validate
from trivium.kvqae.asking.answer import Read
from trivium.kvqae.asking.asker import WOULD_READ
from trivium.kvqae.asking.own_base import ReaderMaker
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.identification import Candidate, ask_which, choice_of
from trivium.kvqae.reader.prompted import Chats
from trivium.prompting.answer_cache import AnswerCache, key_of
from trivium.prompting.asking import Chat, EndpointModel

if TYPE_CHECKING:  # seconds to import
    from trivium.kvqae.asking.models import BaseSettings
    from trivium.kvqae.asking.systems import FolderReader

PACE: dict[str, Any] = {"requests_per_minute": 600.0, "timeout_s": 120.0, "retries": 3, "backoff_s": 1.0}
PAUSE = 60.0  # seconds that an endpoint which fails is left alone
PICTURES = {"max_side": 512, "max_pixels": 100_000_000}  # that are sent
ENTITIES = 5  # that a model chooses among
PROMPT = (
    "Answer the question with a few words from the passages, and nothing else. "
    "If the passages do not say, answer: unknown."
)
STAND_INS = (
    f"The reader is the sample's: it knows an invented world only, and does not read here (--stand-ins). {WOULD_READ}"
)


class PaidModel:
    """A model behind an OpenAI-compatible endpoint; what it says is kept, and not paid for twice.

    Args:
        address: base URL.
        model: the endpoint's name for it.
        key_variable: environment variable with the key; None where none is needed.
        journal: folder that keeps its answers.

    Raises:
        BadInput: no key, or no address.
    """

    def __init__(self, address: str, model: str, key_variable: str | None, journal: Path) -> None:
        from trivium.prompting.endpoint import Endpoint, key_from_environment

        values = {"label": model, "endpoint": address, "model": model, "key_variable": key_variable, "parallel": 1}
        self.settings = validate(EndpointModel, values | PACE, "endpoint", Path("the command line"))
        self._endpoint = Endpoint(str(self.settings.endpoint), model, key_from_environment(key_variable), **PACE)
        self._failed: tuple[float, BadInput] | None = None  # when, and how
        self._cache = AnswerCache(journal)

    def ask(self, key: str, chat: Chat) -> str:
        """Its words.

        Args:
            key: of everything that decides them.
            chat: what is sent, if they are not kept.

        Raises:
            BadInput: it cannot be reached, or refuses.
        """
        from trivium.prompting.endpoint import RefusedError

        reply = self._cache.get(key)
        if reply is None:
            if self._failed is not None and time.monotonic() - self._failed[0] < PAUSE:
                raise self._failed[1]  # a table of questions would wait for each
            try:
                reply = self._endpoint.ask(chat, self.settings.sampling)
            except RefusedError as error:
                raise BadInput(f"the endpoint refuses the question: {error}", file=self.settings.endpoint) from None
            except BadInput as error:
                self._failed = time.monotonic(), error
                raise
            if reply.final:
                self._cache.put(key, reply, model=self.settings.model)
        return reply.content.strip()


class EndpointReader(PaidModel):
    """A language model reads the passages; pictures are not sent to it."""

    def read(self, question: str, ranked: Mapping[int, float], texts: PassageTexts, entry: str | None) -> Read:
        """Its words, and where they stand in a passage, if they do; raises as `ask`."""
        passages = {passage: texts[passage] for passage in ranked}
        told = [f"[{place}] {title}: {text}" for place, (title, text) in enumerate(passages.values(), 1)]
        shown = [f"The picture shows: {entry}"] if entry is not None else []
        chat: Chat = [{"role": "user", "content": "\n\n".join([PROMPT, *told, *shown, f"Question: {question}"])}]
        answer = self.ask(key_of(self.settings.model, chat, self.settings.sampling), chat)
        wanted = answer.rstrip(".")
        if not wanted or wanted.casefold() == "unknown":
            return Read()
        for passage, (_, text) in passages.items():
            for span in find_folded(text, wanted, any_case=True):
                return Read(answer, None, passage, span)
        return Read(answer)


class EndpointIdentifier(PaidModel):
    """A model that sees pictures says which of some entities a picture shows."""

    entities = ENTITIES

    @property
    def label(self) -> str:
        """What notes call it."""
        return self.settings.label

    def choose(self, question: str, picture: bytes, candidates: Sequence[Candidate]) -> int | None:
        """The number of one of them, from 1; 0 for none of them, None if nobody knows; raises as `ask`."""
        message = ask_which(self.settings, question, lambda: picture, candidates, **PICTURES)
        words = self.ask(message.key, Chats([message], **PICTURES)[message.key])
        return choice_of(words, [candidate.title for candidate in candidates])


def reader_of(
    named: str | None, model: str | None, key_variable: str | None, journal: Path, *, stand_ins: bool = False
) -> ReaderMaker:
    """What makes the reader of a base: of a folder, of an endpoint, or the base's own; or says why nobody reads.

    Args:
        named: as the command line names it; None: the base's own.
        model: the endpoint's name for its model.
        key_variable: see `PaidModel`.
        journal: see `PaidModel`.
        stand_ins: whether the sample's reader may read, too.

    Raises:
        BadInput: an endpoint without a model, or no such folder.
    """
    if named is not None and named.startswith(("http://", "https://")):
        if model is None:
            raise BadInput("an endpoint needs the name of its model", field="--reader-model")
        return lambda settings: EndpointReader(named, model, key_variable, journal)
    if named is not None and not Path(named).is_dir():
        raise BadInput("no such reader", field="--reader", got=named, expected="a folder, or http(s)://…")

    def make(settings: "BaseSettings") -> "FolderReader | str | None":
        from trivium.kvqae.asking.systems import FolderReader

        if (folder := named or settings.reader) is None:
            return None
        invented = is_stand_in(Path(folder))
        if invented and not stand_ins:
            return STAND_INS
        return FolderReader(Path(folder), settings.reader_tokens, settings.answer_tokens, invented=invented)

    return make


def is_stand_in(model: Path) -> bool:
    """Whether a folder is one that a project with the invented sample's world has made."""
    projects = [parent.parent for parent in model.resolve().parents if parent.name == "models"]
    files = [project / "params.yaml" for project in projects if (project / "dvc.yaml").is_file()]
    return any((read_parameters(file).get("world") or {}).get("kvqae") == "sample" for file in files if file.is_file())


def identifier_of(arguments: Namespace, journal: Path) -> EndpointIdentifier | None:
    """Who chooses the entity; None where nobody is named.

    Raises:
        BadInput: no name of the model, or no key.
    """
    if arguments.identify is None:
        return None
    if arguments.identify_model is None:
        raise BadInput("an endpoint needs the name of its model", field="--identify-model")
    return EndpointIdentifier(arguments.identify, arguments.identify_model, arguments.key_variable, journal)
