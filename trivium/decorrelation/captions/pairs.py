"""D', the synthetic pairs: painted training pictures, captions without the removed classes (decorrelation.md §2, 4)."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from PIL import Image
from pydantic import Field
from tqdm import tqdm

from trivium.core.engine import Engine
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters
from trivium.core.tables import read_batches
from trivium.decorrelation.captions import grammatical_removal
from trivium.decorrelation.captions.grammatical_removal import join
from trivium.decorrelation.removals import PAIRS
from trivium.formats.pictures import Phrase, Removal
from trivium.language.english.sentences import Sentence, read_sentence
from trivium.language.english.tagging import tag
from trivium.language.english.word_lists import COMPOUND_PREPOSITIONS
from trivium.vision.decoding import read_rgb

_COMPOUNDS = sorted((tuple(words.split()) for words in COMPOUND_PREPOSITIONS), key=len, reverse=True)
_SPACE_BEFORE_MARK = re.compile(r"\s+(?=[.,;:!?])")


def cut_phrases(text: str, phrases: Sequence[Phrase], removed: Collection[str]) -> str | None:
    """Cut the phrases of the removed classes, each with the preposition that leads it, out of a caption: y' of y.

    `phrases` are the noun phrases of y with the classes they name, in order, without overlap. None when no word is
    left; y itself without a phrase of these classes.
    """
    gone = [phrase for phrase in phrases if not set(removed).isdisjoint(phrase.classes)]
    if not gone:
        return text
    sentence = read_sentence(text)
    tags = tag(sentence)
    kept, place = "", 0
    for phrase in gone:
        kept += text[place : _start(sentence, tags, phrase)] + " "
        place = phrase.end
    words = _SPACE_BEFORE_MARK.sub("", " ".join((kept + text[place:]).split()))
    return words if any(character.isalnum() for character in words) else None


def _start(sentence: Sentence, tags: str, phrase: Phrase) -> int:
    """The first character of a phrase, or of the preposition before it: "over a frisbee", "in front of a car"."""
    first, _ = sentence.words_in(phrase.start, phrase.end)
    if not tags[:first].endswith("P"):
        return phrase.start
    before = sentence.words[:first]
    length = next((len(words) for words in _COMPOUNDS if before[-len(words) :] == words), 1)
    return sentence.spans[first - length][0]


def prompt(classes: Sequence[str], key: str) -> str:
    """One of CLIP's 80 templates, drawn by `key`, about at least one class: "a photo of a person and dog."."""
    from open_clip import OPENAI_IMAGENET_TEMPLATES

    return random.Random(key).choice(OPENAI_IMAGENET_TEMPLATES)(join(classes))


Captions = Literal["noun_phrase", "grammatical", "prompt", "captioner"]
_COLUMNS = ["caption", "picture", "split", "text", "phrases", "classes"]
_CHUNK = 1024
Source = tuple[Removal, Mapping[str, Any]]  # and a caption with its phrases
Write = Callable[[Sequence[Source]], Sequence[str | None]]  # the captions y'; None where nothing is left


class PairsParameters(Parameters):
    """Section `decorrelation.pairs`."""

    captions_an_image: int = Field(ge=1, le=5, description="Captions used of each painted picture")
    beams: int = Field(ge=1, description="Beams of the captioner; 1 is greedy")
    max_tokens: int = Field(default=20, ge=1, description="Longest caption of the captioner, tokens")
    batch: int = Field(ge=1, description="Pictures that the captioner sees together")
    seed: int = Field(ge=0, description="Which captions and templates are drawn")


def training_captions(phrases: Path, pictures: Iterable[int]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Stream (picture, its captions with their phrases) of these training pictures, in the file's order."""
    chosen = set(pictures)
    rows = (
        row
        for batch in read_batches(phrases, 4096, _COLUMNS)
        for row in batch.to_pylist()
        if row["split"] == "train" and row["picture"] in chosen
    )
    for picture, captions in groupby(rows, key=lambda row: row["picture"]):
        yield picture, list(captions)


def drawn_sources(
    removal: Removal, captions: Sequence[Mapping[str, Any]], count: int, seed: int
) -> list[Mapping[str, Any]]:
    """At most `count` captions that name a removed class, drawn without replacement.

    A smaller `count` gives the first of those that a larger one gives.
    """
    naming = [row for row in captions if set(removal.removed) & set(row["classes"])]
    random.Random(f"{seed}:{removal.picture}").shuffle(naming)
    return naming[:count]


def texts_of(sources: Sequence[Source], *, captions: Captions, seed: int) -> Sequence[str | None]:
    """The captions y' of removals, by templates or without phrases; None where nothing is left."""
    if captions == "prompt":
        return [prompt(removal.remaining, f"{seed}:{removal.id}:{source['caption']}") for removal, source in sources]
    remove = grammatical_removal.remove_phrases if captions == "grammatical" else cut_phrases
    texts = []
    for removal, source in sources:
        phrases = [Phrase(phrase["start"], phrase["end"], tuple(phrase["classes"])) for phrase in source["phrases"]]
        texts.append(remove(source["text"], phrases, removal.removed))
    return texts


def captioner_of(folder: Path, painted: Path, parameters: PairsParameters) -> Write:
    """The function that writes captions of the pictures of `painted`, a batch at a time, by a captioner's folder."""
    from trivium.decorrelation.captions.captioner import Captioner

    images = Images(painted / "train")
    captioner = Captioner(folder, beams=parameters.beams, max_tokens=parameters.max_tokens)

    def read(name: str) -> Image.Image:
        return read_rgb(images.read(name), name, images.folder)

    return lambda sources: captioner.caption([removal.id for removal, _ in sources], parameters.batch, read)


def rows_of(sources: Sequence[Source], *, write: Write) -> list[dict[str, Any]]:
    """Rows of PAIRS with the captions that `write` makes; `text` is None where nothing is left."""
    return [
        {"removal": removal.id, "picture": removal.picture, "caption": source["caption"], "text": text}
        for (removal, source), text in zip(sources, write(sources), strict=True)
    ]


def make_pairs(
    captions: Captions,
    removals: Sequence[Removal],
    phrases: Path,
    parameters: PairsParameters,
    counts: Counter[str],
    engine: Engine,
    captioner: Write | None = None,
) -> Iterator[pa.RecordBatch]:
    """Stream the rows of D'; `counts` is filled on the way. The captioner writes here, others where `engine` says.

    Counts: `pairs`, `pictures`, `different_captions`, `dropped_unnamed` (no caption names a removed class),
    `dropped_emptied`.
    """
    different: set[str] = set()
    by_picture: dict[int, list[Removal]] = defaultdict(list)
    for removal in removals:
        by_picture[removal.picture].append(removal)

    def chunks() -> Iterator[Sequence[Source]]:
        """Removals with the captions that are drawn for them, some thousand at a time; the last may be none."""
        captioned = tqdm(training_captions(phrases, by_picture), total=len(by_picture), desc="pictures", unit="picture",
                         mininterval=5, leave=False)  # fmt: skip
        sources: list[Source] = []
        for picture, rows in captioned:
            for removal in by_picture.pop(picture):
                drawn = drawn_sources(removal, rows, parameters.captions_an_image, parameters.seed)
                counts["dropped_unnamed"] += not drawn
                sources += [(removal, source) for source in (drawn[:1] if captions == "captioner" else drawn)]
            if len(sources) >= _CHUNK:
                yield sources
                sources = []
        counts["dropped_unnamed"] += sum(map(len, by_picture.values()))  # of pictures without any caption
        yield sources

    made: Iterator[list[dict[str, Any]]]
    if captioner is not None:
        made = map(partial(rows_of, write=captioner), chunks())
    else:
        write = partial(texts_of, captions=captions, seed=parameters.seed)
        made = engine.map(partial(rows_of, write=write), chunks(), description="captions", processes=1)
    for rows in made:
        kept = [row for row in rows if row["text"]]
        counts["pairs"] += len(kept)
        counts["pictures"] += len({row["picture"] for row in kept})
        counts["dropped_emptied"] += len(rows) - len(kept)
        different.update(row["text"] for row in kept)
        counts["different_captions"] = len(different)
        yield pa.RecordBatch.from_pylist(kept, schema=PAIRS)
