"""What was tokenised once comes back row by row, however many texts are tokenised together."""

import numpy as np
import pytest

from trivium.nets import tokens
from trivium.nets.tokens import keep_tokens

TEXTS = ["ab", "", "abc", "d", "", "efgh", "i"]


def letters(texts):
    return [[ord(letter) for letter in text] for text in texts]


@pytest.mark.parametrize("at_once", [1, 2, 3, 7, 100])
def test_each_text_is_tokenised_once_and_comes_back(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(tokens, "AT_ONCE", at_once)
    asked = []

    def tokenize(texts):
        asked.extend(texts)
        return letters(texts)

    rows = keep_tokens(tmp_path / "tokens", TEXTS, tokenize)
    for _ in range(2):
        assert [rows[row].tolist() for row in range(len(TEXTS))] == letters(TEXTS)
    assert asked == TEXTS
    assert rows[0].dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        rows[0][0] = 1


def test_texts_without_any_token(tmp_path):
    assert keep_tokens(tmp_path / "tokens", ["", ""], letters)[1].tolist() == []


def test_rows_of_other_texts_are_replaced_and_nothing_is_left_of_a_failure(tmp_path):
    keep_tokens(tmp_path / "tokens", TEXTS, letters)
    assert keep_tokens(tmp_path / "tokens", ["xyz"], letters)[0].tolist() == letters(["xyz"])[0]
    with pytest.raises(ZeroDivisionError):
        keep_tokens(tmp_path / "others", TEXTS, lambda texts: [[1 // len(text)] for text in texts])
    assert [path.name for path in tmp_path.iterdir()] == ["tokens"]
