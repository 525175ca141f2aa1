"""Rows put one after the other come apart again, and are padded as a tokenizer pads them."""

import numpy as np
import pytest
import torch

from tests.kvqae.tiny_bert import write_tiny_bert
from trivium.kvqae.retrieval.text_encoder import load_text_encoder
from trivium.nets.tokens import padded, ragged

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
