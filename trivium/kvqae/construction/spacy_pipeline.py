"""Load or train the spaCy pipeline for the data set's construction (kvqae.md §2).

The trained pipeline is small: a parser and a recogniser, both transition-based, share a convolutional `tok2vec`, as in
spaCy's English pipelines, of hashed words, shapes, prefixes and suffixes. It is trained and measured on sentences with
their gold analysis (`annotated.jsonl`).
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import spacy
from pydantic import Field, StrictBool, StrictStr
from pydantic.dataclasses import dataclass
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, fix_random_seed
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, read_json_records
from trivium.language import parsers

POINTER = "pipeline.json"
_NEEDED = ("parser", "ner")
Word = Annotated[int, Field(ge=0, strict=True)]  # a position


@dataclass(frozen=True)
class GoldSentence:
    """One text of one or more sentences with its gold analysis, word by word; a line of `annotated.jsonl`.

    Attributes:
        words: tokens; `spaces`: whether a space follows each.
        heads: position of each word's head; a root is its own head.
        deps, tags: dependency labels and part-of-speech tags of spaCy's English pipelines.
        entities: (first word, end, label), by position.
    """

    words: Annotated[tuple[StrictStr, ...], Field(min_length=1)]
    spaces: tuple[StrictBool, ...]
    heads: tuple[Word, ...]
    deps: tuple[StrictStr, ...]
    tags: tuple[StrictStr, ...]
    entities: tuple[tuple[Word, Word, StrictStr], ...]

    def __post_init__(self) -> None:
        """Check that spaCy can learn from the sentence; the message of a `ValueError` begins with the field."""
        size = len(self.words)
        for name in ("spaces", "heads", "deps", "tags"):
            if len(getattr(self, name)) != size:
                raise ValueError(f"{name}: wrong length: {len(getattr(self, name))}, expected {size}, one a word")
        if max(self.heads) >= size:
            raise ValueError(f"heads: head outside the words: expected a position from 0 to {size - 1}")
        for root in range(size):
            for _ in self.heads:
                root = self.heads[root]
            if self.heads[root] != root:
                raise ValueError("heads: heads do not form a tree")
        for word, (head, dep) in enumerate(zip(self.heads, self.deps, strict=True)):
            if (head == word) != (dep == "ROOT"):
                raise ValueError(f"deps: not ROOT, or ROOT with another head: word {word}: {dep}, head {head}")
        end = 0
        for first, stop, _ in sorted(self.entities):
            if not end <= first < stop <= size:
                raise ValueError(f"entities: expected [first word, end, label] within {size} words, without overlap")
            end = stop


def read_annotated(path: Path) -> list[GoldSentence]:
    """Read `annotated.jsonl`; `BadInput`: no sentence."""
    sentences = [sentence for _, sentence in read_json_records(path, GoldSentence)]
    if not sentences:
        raise BadInput("no sentences", file=path, expected="one JSON object a line")
    return sentences


def load_pipeline(folder: Path) -> Language:
    """Load the output of stage `kvqae-mention_model`: a pipeline, or `pipeline.json` that names an installed one."""
    if (folder / POINTER).exists():
        return load_package(read_json(folder / POINTER)["model"])
    return parsers.load_pipeline(folder, expected=f"a spaCy pipeline, or {POINTER}", needed=_NEEDED, field=str(folder))


def load_package(name: str) -> Language:
    """Load an installed pipeline by name; it must have a parser and a recogniser of named entities."""
    expected = f"a package got by `python -m spacy download {name}`, or model: trained"
    return parsers.load_pipeline(name, expected=expected, needed=_NEEDED, field="kvqae.mention_model.model")


def to_document(pipeline: Language, sentence: GoldSentence) -> Doc:
    """Make a spaCy document with the gold analysis."""
    tags = ["O"] * len(sentence.words)
    for start, end, label in sorted(sentence.entities):
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return Doc(
        pipeline.vocab, words=list(sentence.words), spaces=list(sentence.spaces), heads=list(sentence.heads),
        deps=list(sentence.deps), tags=list(sentence.tags), ents=tags,
    )  # fmt: skip


def _bare(pipeline: Language, sentences: Sequence[GoldSentence]) -> list[Doc]:
    return [Doc(pipeline.vocab, words=list(gold.words), spaces=list(gold.spaces)) for gold in sentences]


def build_pipeline(*, width: int, depth: int, rows: int) -> Language:
    """Make an untrained English pipeline; `depth` convolutions see as many words on each side."""
    pipeline = spacy.blank("en")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": width}
    pipeline.add_pipe(
        "tok2vec",
        config={
            "model": {
                "@architectures": "spacy.HashEmbedCNN.v2", "width": width, "depth": depth, "embed_size": rows,
                "window_size": 1, "maxout_pieces": 3, "subword_features": True, "pretrained_vectors": None,
            }
        },
    )  # fmt: skip
    for name in _NEEDED:
        model = {
            "@architectures": "spacy.TransitionBasedParser.v2", "state_type": name, "extra_state_tokens": False,
            "hidden_width": width, "maxout_pieces": 2, "use_upper": True, "tok2vec": listener,
        }  # fmt: skip
        pipeline.add_pipe(name, config={"model": model} | ({"min_action_freq": 1} if name == "parser" else {}))
    return pipeline


def train_pipeline(
    pipeline: Language, sentences: Sequence[GoldSentence], *, seed: int, epochs: int, batch: int, learning_rate: float,
    dropout: float, log: Callable[..., None],
) -> float:  # fmt: skip
    """Train in place on the CPU with Adam, in shuffled epochs; returns the last epoch's mean loss a word.

    `log` takes the number of epochs done and the `loss` of the last one.
    """
    fix_random_seed(seed)
    rng = random.Random(seed)
    references = [to_document(pipeline, sentence) for sentence in sentences]
    examples = list(map(Example, _bare(pipeline, sentences), references))
    optimizer = pipeline.initialize(lambda: examples, sgd=Adam(learning_rate))
    words = sum(len(sentence.words) for sentence in sentences)
    loss = 0.0
    for epoch in tqdm(range(epochs), desc="spaCy", unit="epoch", mininterval=5, leave=False):
        rng.shuffle(examples)
        losses: dict[str, float] = {}
        for start in range(0, len(examples), batch):
            pipeline.update(examples[start : start + batch], sgd=optimizer, losses=losses, drop=dropout)
        loss = float(sum(losses.values())) / words
        log(epoch + 1, loss=loss)
    return loss


def measure_pipeline(pipeline: Language, sentences: Sequence[GoldSentence]) -> dict[str, float]:
    """Measure the analysis of gold words: entities (both ends and label), and attachment of all but punctuation.

    `uas` is the share of words with the right head, `las` with head and dependency label right.
    """
    predicted = gold = right = words = heads = labelled = 0
    for sentence, document in zip(sentences, pipeline.pipe(_bare(pipeline, sentences)), strict=True):
        entities = {(span.start, span.end, span.label_) for span in document.ents}
        predicted, gold = predicted + len(entities), gold + len(sentence.entities)
        right += len(entities.intersection(sentence.entities))
        for token, head, dep in zip(document, sentence.heads, sentence.deps, strict=True):
            if dep != "punct":
                words += 1
                heads += token.head.i == head
                labelled += token.head.i == head and token.dep_ == dep
    return {
        "ner_precision": right / predicted if predicted else 0.0,
        "ner_recall": right / gold if gold else 0.0,
        "ner_f1": 2 * right / (predicted + gold) if predicted + gold else 0.0,
        "uas": heads / words if words else 0.0,
        "las": labelled / words if words else 0.0,
    }
