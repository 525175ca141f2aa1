"""Levenshtein's edit distance, counted in words (kvqae.md §2)."""

from collections.abc import Sequence


def word_edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Fewest insertions, deletions and substitutions of words that make one sequence the other.

    `D(i, j) = min(D(i-1, j) + 1, D(i, j-1) + 1, D(i-1, j-1) + [a_i ≠ b_j])`, with D(i, 0) = i and D(0, j) = j.

    Args:
        a, b: sequences of words, compared as they are (case included).

    Returns:
        0 for equal sequences, at most the length of the longer one. Symmetric.
    """
    above = list(range(len(b) + 1))
    for row, word in enumerate(a, 1):
        current = [row]
        for column, other in enumerate(b, 1):
            current.append(min(above[column] + 1, current[-1] + 1, above[column - 1] + (word != other)))
        above = current
    return above[-1]
