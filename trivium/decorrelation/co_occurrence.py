"""Which classes stand together in training pictures: counts, conditional probabilities, lift.

P(k | c) = n(c, k) / n(c) and lift(c, k) = P(k | c) / P(k), where n counts pictures with all of the named classes and
P(k) = n(k) / n. A lift of 1 is independence.
"""

from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from trivium.core.tables import write_csv
from trivium.formats.pictures import Corpus

COLUMNS = ("class", "other", "pictures_with_class", "pictures_with_both", "probability", "lift")


@dataclass(frozen=True)
class CoOccurrence:
    """Counts over the n training `pictures` of a corpus, whose classes are in its order.

    `together` is n(c, k), shape (classes, classes), int64; n(c) on the diagonal.
    """

    classes: tuple[str, ...]
    pictures: int
    together: np.ndarray

    def probability(self) -> np.ndarray:
        """P(k | c), shape (c, k), float64; 0 where no picture has c."""
        alone = self.together.diagonal()[:, None]
        return np.divide(self.together, alone, out=np.zeros(self.together.shape), where=alone > 0)

    def lift(self) -> np.ndarray:
        """P(k | c) / P(k), shape (c, k), float64; 0 where no picture has c or none has k."""
        expected = np.broadcast_to(self.together.diagonal() / max(self.pictures, 1), self.together.shape)
        return np.divide(self.probability(), expected, out=np.zeros(self.together.shape), where=expected > 0)


def count_co_occurrence(corpus: Corpus) -> CoOccurrence:
    """Count classes and pairs of classes over the training pictures; a crowd counts as present."""
    pictures = [set(picture.classes) for picture in corpus.pictures if picture.split == "train"]
    present = np.array([[name in classes for name in corpus.classes] for classes in pictures], np.int64)
    present = present.reshape(len(pictures), len(corpus.classes))
    return CoOccurrence(corpus.classes, len(pictures), present.T @ present)


def partners(corpus: Corpus, least: float = 0.0) -> dict[str, str]:
    """The partner of each class that has one: the class k with the greatest P(k | c), if its lift is above 1.

    P(k | c) must be at least `least`. Of several the one with the greatest lift is taken, then the first in the
    corpus's order. Only training pictures count.
    """
    counts = count_co_occurrence(corpus)
    probability, lift, count = counts.probability(), counts.lift(), len(counts.classes)
    chosen = {}
    for one, name in enumerate(counts.classes):
        others = (index for index in range(count) if index != one)
        best = max(others, key=lambda index: (probability[one, index], lift[one, index]), default=one)
        if best != one and lift[one, best] > 1 and probability[one, best] >= least:
            chosen[name] = counts.classes[best]
    return chosen


def write_co_occurrence(path: Path, counts: CoOccurrence) -> None:
    """Write CSV, a row an ordered pair of different classes; what is undefined is empty."""
    probability, lift, alone = counts.probability(), counts.lift(), counts.together.diagonal()
    rows = []
    for (one, name), (other, also) in permutations(enumerate(counts.classes), 2):
        share = f"{probability[one, other]:.6f}" if alone[one] else None
        above = f"{lift[one, other]:.6f}" if alone[one] and alone[other] else None
        rows.append([name, also, alone[one], counts.together[one, other], share, above])
    write_csv(path, COLUMNS, rows)


def partner_metrics(corpus: Corpus, counts: CoOccurrence) -> dict[str, float]:
    """`partners`, how many classes have a partner, and `partner_probability`, the mean P(partner | class) of these."""
    place, probability = counts.classes.index, counts.probability()
    shares = [probability[place(name), place(partner)] for name, partner in partners(corpus).items()]
    return {"partners": float(len(shares)), "partner_probability": float(sum(shares) / max(len(shares), 1))}
