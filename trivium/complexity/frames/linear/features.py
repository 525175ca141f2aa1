"""Words of French sentences, features hashed to columns, and logistic regression, as all of the linear models need.

Of a word, its stem, its ending and a rough class are known: function words are listed, others are classed by ending,
capital or digit. Features are names, hashed to columns (Weinberger et al. 2009). A feature joined with a key, such as
an element's name, counts for that element alone; the bare feature counts for all, so that rare elements profit from
frequent ones.
"""

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import snowballstemmer
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from trivium.complexity.frames.windows import words_of
from trivium.core.parameters import read_beside
from trivium.formats.framed_texts import Span

_FRENCH: dict[str, Any] = read_beside(__file__, "french.yaml")
_CLASS_OF = {word: name for name, listed in _FRENCH["words"].items() for word in listed.split()}
_BY_ENDING = {name: re.compile(f"(?:{endings})$") for name, endings in _FRENCH["endings"].items()}
TEMPLATES = {
    name: [feature for row in rows for feature in row.split("|")] for name, rows in _FRENCH["templates"].items()
}
stem_of = lru_cache(maxsize=100_000)(snowballstemmer.stemmer("french").stemWord)  # of a word in lower case


@lru_cache(maxsize=100_000)
def class_of(word: str) -> str:
    """The rough class of a word; a punctuation mark is its own."""
    lower = word.lower().replace("’", "'")
    if (listed := _CLASS_OF.get(lower)) is not None:
        return listed
    if not word[0].isalnum():
        return word
    if word[0].isdigit():
        return "number"
    if word[0].isupper():
        return "name"
    return next((name for name, ending in _BY_ENDING.items() if ending.search(lower)), "word")


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a sentence: where they stand in the text, in lower case, their stems and classes."""

    spans: tuple[Span, ...]
    lower: tuple[str, ...]
    stems: tuple[str, ...]
    classes: tuple[str, ...]

    @classmethod
    def of(cls, text: str, sentence: Span | None = None) -> "Words":
        """Cut a sentence of a text, or the whole text, into words."""
        sentence = sentence or Span(0, len(text))
        spans = tuple(words_of(sentence.of(text), sentence.start))
        forms = [span.of(text) for span in spans]
        lower = tuple(form.lower().replace("’", "'") for form in forms)
        return cls(spans, lower, tuple(map(stem_of, lower)), tuple(map(class_of, forms)))

    def __len__(self) -> int:
        return len(self.spans)

    def under(self, span: Span) -> "Stretch | None":
        """The words that share a character with a span; None when there is none."""
        touched = [place for place, word in enumerate(self.spans) if word.overlaps(span)]
        return Stretch(self, touched[0], touched[-1] + 1) if touched else None

    def describe(self, places: Mapping[str, int]) -> dict[str, str]:
        """Form, stem, class and ending (`w`, `s`, `c`, `e` and the place's name); `#` where no word is."""
        values = {}
        for name, place in places.items():
            is_word = 0 <= place < len(self.spans)
            for kind, column in zip("wsc", (self.lower, self.stems, self.classes), strict=True):
                values[f"{kind}{name}"] = column[place] if is_word else "#"
            values[f"e{name}"] = values[f"w{name}"][-3:]
        return values


class Stretch(NamedTuple):
    """Words `first` to before `after` of a sentence."""

    words: Words
    first: int
    after: int

    @property
    def form(self) -> str:
        """The words themselves."""
        return " ".join(self.words.lower[self.first : self.after])

    @property
    def stem(self) -> str:
        """Their stems."""
        return " ".join(self.words.stems[self.first : self.after])

    @property
    def span(self) -> Span:
        """Their characters."""
        return Span(self.words.spans[self.first].start, self.words.spans[self.after - 1].end)


BITS = 22  # of a column's number: some hundred thousand features share four million columns
Features = NDArray[np.uint32]
_MIX = np.uint32(0x9E3779B1)  # the golden ratio's, for multiplicative hashing


def hash_names(names: Iterable[str]) -> Features:
    """The hash of each name."""
    return np.fromiter((zlib.crc32(name.encode()) for name in names), dtype=np.uint32)


def fill_in(template: str, values: Mapping[str, object]) -> Features:
    """The hashes of the features of a group of TEMPLATES, with these values."""
    return hash_names(feature.format_map(values) for feature in TEMPLATES[template])


def join_keys(features: Features, keys: Iterable[str]) -> Features:
    """The features as those of each key alone, key by key."""
    return np.concatenate([(features * _MIX) ^ key for key in hash_names(keys)])


def matrix(rows: Sequence[Features]) -> csr_matrix:
    """(rows, columns) of 1 where a row has a feature."""
    ends = np.cumsum([0, *map(len, rows)])
    columns = (np.concatenate(rows) if rows else np.zeros(0, np.uint32)) >> np.uint32(32 - BITS)
    ones = np.ones(len(columns), np.float32)
    sparse = csr_matrix((ones, columns.astype(np.int32), ends), shape=(len(rows), 1 << BITS))
    sparse.sum_duplicates()
    sparse.data[:] = 1
    return sparse


Weights = NDArray[np.float64]  # (columns + 1,), the last one is the intercept


def logistic(penalty: float, seed: int) -> Any:
    """An untrained two-class logistic regression by averaged stochastic gradients."""
    from sklearn.linear_model import SGDClassifier  # takes a second to import

    return SGDClassifier(loss="log_loss", alpha=penalty, average=True, max_iter=8, tol=None, random_state=seed)


def fit_logistic(rows: csr_matrix, true: NDArray[np.bool_], penalty: float, seed: int) -> Weights:
    """Train a `logistic` regression; both classes must occur in `true`, (rows,)."""
    model = logistic(penalty, seed).fit(rows, true)
    return np.append(model.coef_[0], model.intercept_)


def log_odds(weights: Weights, rows: csr_matrix) -> NDArray[np.float64]:
    """(rows,) log p / (1 - p)."""
    return np.asarray(rows @ weights[:-1] + weights[-1])
