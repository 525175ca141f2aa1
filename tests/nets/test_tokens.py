"""Rows put one after the other come apart again, are padded as a tokenizer pads them, and come back from disk."""

import numpy as np
import pytest
import torch

from tests.kvqae.tiny_bert import write_tiny_bert
from trivium.kvqae.retrieval.text_encoder import load_text_encoder
from trivium.nets import tokens
from trivium.nets.tokens import keep_tokens, padded, ragged

CPU = torch.device("cpu")
ROWS = [[2, 7, 3], [2, 3], [2, 5, 6, 7, 3], [2, 9, 3]]


def test_rows_come_apart_again() -> None:
    flat = ragged(ROWS)
    assert flat.values.tolist() == [2, 7, 3, 2, 3, 2, 5, 6, 7, 3, 2, 9, 3]
    assert flat.lengths.tolist() == [3, 2, 5, 3]
    assert [row.tolist() for row in flat.rows()] == ROWS
    assert ragged([]).rows() == []
    assert [row.tolist() for row in ragged(flat.rows()).rows()] == ROWS  # arrays, as lists


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[::-1], [[2, 3]] * 3])
def test_as_the_tokenizer_pads(rows: list[list[int]], tmp_path) -> None:
    _, tokenizer = load_text_encoder(write_tiny_bert(tmp_path / "bert"), CPU)
    expected = tokenizer.pad({"input_ids": rows}, return_tensors="pt")
    ids, mask = padded(ragged(rows), tokenizer.pad_token_id, CPU)
    assert ids.dtype == mask.dtype == expected["input_ids"].dtype == torch.int64
    np.testing.assert_array_equal(ids, expected["input_ids"])
    np.testing.assert_array_equal(mask, expected["attention_mask"])


def test_padding_is_what_was_asked_for() -> None:
    ids, mask = padded(ragged([[4], [5, 6]]), 11, CPU)
    assert ids.tolist() == [[4, 11], [5, 6]]
    assert mask.tolist() == [[1, 0], [1, 1]]


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
