import numpy as np
import pytest
import torch

from tests.kvqae.tiny_bert import write_tiny_bert
from trivium.kvqae.retrieval.text_encoder import encode, load_text_encoder, tokenize
from trivium.nets.bert import cls_vectors

CPU = torch.device("cpu")
TEXTS = ["w1", "w2 w3 w4 w5 w6", "w7 w8", "w9 w10 w11", "w1 w1 w1 w1 w1 w1 w1 w1", "w2", "w3 w3"]


@pytest.fixture
def folder(tmp_path):
    return write_tiny_bert(tmp_path / "bert")


def test_title_and_text_are_separated_by_the_real_token(folder):
    _, tokenizer = load_text_encoder(folder, CPU)
    (ids,) = tokenize(tokenizer, ["w1 w2"], 16, titles=["w9"])
    assert tokenizer.convert_ids_to_tokens(ids) == ["[CLS]", "w9", "[SEP]", "w1", "w2", "[SEP]"]
    # The same as the string that every other model reads.
    assert [ids] == tokenize(tokenizer, ["w9 [SEP] w1 w2"], 16)


def test_the_longer_part_is_cut(folder):
    _, tokenizer = load_text_encoder(folder, CPU)
    (ids,) = tokenize(tokenizer, ["w1 w2 w3 w4 w5 w6 w7 w8"], 8, titles=["w9 w10"])
    assert tokenizer.convert_ids_to_tokens(ids) == ["[CLS]", "w9", "w10", "[SEP]", "w1", "w2", "w3", "[SEP]"]
    assert len(tokenize(tokenizer, ["w1 w2 w3 w4 w5 w6 w7 w8"], 6)[0]) == 6
    assert tokenize(tokenizer, [], 6) == []


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_vectors_have_the_bits_of_batches_that_a_tokenizer_pads(folder, batch_size):
    encoder, tokenizer = load_text_encoder(folder, CPU)
    ids = tokenize(tokenizer, TEXTS, 16)
    expected = np.empty((len(ids), 32), np.float32)
    order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
    with torch.inference_mode():
        for start in range(0, len(ids), batch_size):
            rows = order[start : start + batch_size]
            batch = tokenizer.pad({"input_ids": [ids[row] for row in rows]}, return_tensors="pt")
            expected[rows] = cls_vectors(encoder, **batch).numpy()
    np.testing.assert_array_equal(encode(encoder, tokenizer, ids, batch_size), expected)
    arrays = [np.array(row, np.int32) for row in ids]
    np.testing.assert_array_equal(encode(encoder, tokenizer, arrays, batch_size), expected)
