"""Words and their numbers, for VSE++'s text encoder (decorrelation.md §4)."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json

PADDING, UNKNOWN, BEGIN, END = range(4)
SPECIAL = ("<pad>", "<unk>", "<start>", "<end>")
WORD = r"\w+(?:['’]\w+)*"


def words_of(text: str) -> list[str]:
    """Runs of letters and digits, lower case; a word may have apostrophes inside."""
    return re.findall(WORD, text.lower())


class Vocabulary:
    """Numbers of words.

    Args:
        words: in the order of their numbers, the special ones first.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._numbers = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def of(cls, captions: Iterable[str], minimum_count: int) -> "Vocabulary":
        """Words that the captions hold at least so often, in alphabetical order.

        Raises:
            BadInput: not one word is that frequent.
        """
        counts = Counter(word for caption in captions for word in words_of(caption))
        words = sorted(word for word, count in counts.items() if count >= minimum_count)
        if not words:
            raise BadInput("no word is frequent enough", field="minimum_count", got=minimum_count)
        return cls([*SPECIAL, *words])

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        """What `write` wrote; `BadInput` where it is something else."""
        words = read_json(path)
        if not isinstance(words, list) or tuple(words[: len(SPECIAL)]) != SPECIAL:
            raise BadInput("not a vocabulary", file=path, expected=f"a list of words that begins {', '.join(SPECIAL)}")
        return cls(words)

    def write(self, path: Path) -> None:
        """The words as a JSON list."""
        write_json(path, list(self.words))

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """`ids` (texts, longest) with begin and end marks, padded behind, and `lengths` (texts,)."""
        rows = [[BEGIN, *(self._numbers.get(word, UNKNOWN) for word in words_of(text)), END] for text in texts]
        lengths = torch.tensor([len(row) for row in rows], dtype=torch.int64)
        ids = torch.full((len(rows), max(map(len, rows), default=0)), PADDING, dtype=torch.int64)
        for row, numbers in enumerate(rows):
            ids[row, : len(numbers)] = torch.tensor(numbers)
        return {"ids": ids, "lengths": lengths}
