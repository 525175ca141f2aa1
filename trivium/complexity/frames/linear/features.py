"""Input of the linear models: words of French sentences, features hashed to columns; and logistic regression.

Of a word, its stem, its ending and a rough class are known: function words are listed, others are classed by ending,
capital or digit. Features are names, hashed to columns (Weinberger et al. 2009). A feature joined with a key, such as
an element's name, counts for that element alone; the bare feature counts for all, so that rare elements profit from
frequent ones.
"""

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import snowballstemmer
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from trivium.complexity.frames.windows import words_of
from trivium.formats.framed_texts import Span

_BY_HEART = {
    "determiner": "le la les l' un une des du au aux ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre "
    "vos leur leurs chaque quelques plusieurs tout toute tous toutes aucun aucune quel quelle quels quelles",
    "preposition": "à de d' en dans par pour sur sous avec sans chez vers entre contre depuis pendant avant après "
    "selon lors dès malgré envers parmi hors via jusque jusqu' durant afin",
    "subject": "je j' tu il elle on nous vous ils elles",
    "clitic": "me m' te t' se s' lui y",
    "that": "que qu'",
    "relative": "qui dont où lequel laquelle lesquels lesquelles auquel duquel",
    "and": "et ou ni mais or car donc",
    "conjunction": "si comme quand lorsque lorsqu' puisque puisqu' parce quoique",
    "negation": "ne n' pas plus jamais rien point guère",
    "be": "est sont était étaient été être sera seront serait fut furent soit soient étant es suis sommes êtes",
    "have": "a ont avait avaient avoir aura auront aurait ai as avons avez eu ayant ait aient eut",
    "modal": "peut peuvent pouvait pourrait pourraient doit doivent devait devrait devraient pouvoir devoir fait faire "
    "va vont faut",
    "adverb": "très aussi bien même encore déjà toujours trop moins assez ainsi alors non peu beaucoup",
    "demonstrative": "cela ceci ça celui celle ceux celles c'",
}
_CLASS_OF = {word: name for name, listed in _BY_HEART.items() for word in listed.split()}
_BY_ENDING = tuple(
    (re.compile(rf"(?:{endings})$"), name)
    for endings, name in (
        ("er|ir|oir|re", "infinitive"),
        ("ment", "-ment"),
        ("ant", "-ant"),
        ("ée?s?", "participle"),
        ("ait|aient|era|eront|erait|eraient|ons|ez|ent|èrent|it", "finite"),
        ("[ts]ions?|tés?|ages?|isme|eurs?", "noun"),
        ("iques?|ales?|al|aux|el(?:le)?s?|ifs?|ives?|eux|euse|[ai]bles?", "adjective"),
        ("s", "-s"),
        ("e", "-e"),
    )
)
FINITE = frozenset(("finite", "be", "have", "modal"))
CLAUSE = frozenset(("that", "relative", "conjunction"))
PAUSE = frozenset(",;:.")
_STEMMER = snowballstemmer.stemmer("french")


@lru_cache(maxsize=100_000)
def stem_of(word: str) -> str:
    """The Snowball stem of a word in lower case."""
    return str(_STEMMER.stemWord(word))


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
    return next((name for ending, name in _BY_ENDING if ending.search(lower)), "word")


@dataclass(frozen=True)
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

    def under(self, span: Span) -> tuple[int, int] | None:
        """First word and the one after the last that share a character with a span; None when there is none."""
        touched = [place for place, word in enumerate(self.spans) if word.overlaps(span)]
        return (touched[0], touched[-1] + 1) if touched else None

    def characters(self, first: int, after: int) -> Span:
        """The span of words `first` to before `after`."""
        return Span(self.spans[first].start, self.spans[after - 1].end)

    def around(self, place: int) -> tuple[str, str, str]:
        """Word, stem and class at a place; `#` before the first and after the last."""
        if 0 <= place < len(self.spans):
            return self.lower[place], self.stems[place], self.classes[place]
        return "#", "#", "#"


BITS = 22  # of a column's number: some hundred thousand features share four million columns
Features = NDArray[np.uint32]
_MIX = np.uint32(0x9E3779B1)  # the golden ratio's, for multiplicative hashing


def hash_names(names: Iterable[str]) -> Features:
    """The hash of each name."""
    return np.fromiter((zlib.crc32(name.encode()) for name in names), dtype=np.uint32)


def join_key(features: Features, key: str) -> Features:
    """The features as those of a key alone."""
    return (features * _MIX) ^ np.uint32(zlib.crc32(key.encode()))


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


def fit_logistic(rows: csr_matrix, true: NDArray[np.bool_], penalty: float, seed: int) -> Weights:
    """Two-class logistic regression by averaged stochastic gradients.

    Args:
        rows: (rows, columns) features.
        true: (rows,) the class; both must occur.
        penalty: weight of the squared norm.
        seed: of the order of the rows.
    """
    from sklearn.linear_model import SGDClassifier  # takes a second to import

    model = SGDClassifier(loss="log_loss", alpha=penalty, average=True, max_iter=8, tol=None, random_state=seed)
    model.fit(rows, true)
    return np.append(model.coef_[0], model.intercept_)


def log_odds(weights: Weights, rows: csr_matrix) -> NDArray[np.float64]:
    """(rows,) log p / (1 - p)."""
    return np.asarray(rows @ weights[:-1] + weights[-1])
