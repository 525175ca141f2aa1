"""Every text encoder of the folder, with a tiny model, and what a class may say of its pooling and prefixes."""

import re
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch

from tests.kvqae.tiny_bert import write_tiny_bert
from trivium.core.errors import BadInput
from trivium.kvqae.retrieval.sentence_encoder import SentenceEncoder
from trivium.kvqae.retrieval.text_encoder_registry import TEXT_ENCODERS, TextEncoder, text_encoder_parameters

CPU = torch.device("cpu")


def test_members_are_the_modules_of_the_folder():
    assert {"dpr_zero_shot", "dpr_few_shot"} <= set(TEXT_ENCODERS)
    symbols = [encoder.symbol for encoder in TEXT_ENCODERS.values()]
    assert len({*symbols, "B"}) == len(symbols) + 1  # B is BM25's


@pytest.mark.parametrize("name", TEXT_ENCODERS)
def test_a_member_encodes_questions_and_passages_alike(name, tmp_path):
    kind = TEXT_ENCODERS[name]
    assert issubclass(kind, TextEncoder)
    assert kind.label
    if issubclass(kind, SentenceEncoder):
        kind.write_tiny(tmp_path)
    else:
        for seed, folder in enumerate(sorted(set(kind.folders.values()))):
            write_tiny_bert(tmp_path / folder, seed=seed)
    question, passage = kind(tmp_path, "question", CPU), kind(tmp_path, "passage", CPU)
    asked = question.encode(question.tokenize(["who is w1 ?", "where"], 16), 2)
    found = passage.encode(passage.tokenize(["w1 w2", "w3"], 16, ["w9", "w8"]), 1)
    assert asked.shape == found.shape == (2, question.width)
    assert np.isfinite(asked @ found.T).all()
    if kind.normalised:
        np.testing.assert_allclose(np.linalg.norm(asked, axis=1), 1, atol=1e-5)


class Mean(TextEncoder):
    """One network for both sides, its mean over the tokens of a text with a prefix."""

    folders: ClassVar = {"question": "", "passage": ""}
    prefixes: ClassVar = {"question": "who ", "passage": "the "}
    pooling = "mean"
    normalised = True


def test_prefixes_pooling_and_length_are_the_classes(tmp_path):
    write_tiny_bert(tmp_path)
    encoder = Mean(tmp_path, "question", CPU)
    ids = encoder.tokenize(["w1 w2", "w3"], 16)
    assert encoder.tokenizer.convert_ids_to_tokens(ids[0]) == ["[CLS]", "who", "w1", "w2", "[SEP]"]
    passages = Mean(tmp_path, "passage", CPU).tokenize(["w1"], 16, ["w9"])
    assert encoder.tokenizer.convert_ids_to_tokens(passages[0]) == ["[CLS]", "the", "w9", "[SEP]", "w1", "[SEP]"]
    states = [encoder.network(torch.tensor([each])).last_hidden_state[0].detach().numpy().mean(axis=0) for each in ids]
    expected = np.stack([state / np.linalg.norm(state) for state in states])
    np.testing.assert_allclose(encoder.encode(ids, 2), expected, atol=1e-5)  # padding counts for nothing


def test_the_table_in_the_docs_says_what_members_say():
    text = (Path(__file__).parents[3] / "docs" / "kvqae.md").read_text(encoding="utf-8")
    told = re.findall(r"\| `(\w+)` \| (.*), (.*) \| `trivium/kvqae/retrieval/text_encoders/\1\.py` \|", text)
    assert sorted(told) == sorted((name, encoder.label, encoder.symbol) for name, encoder in TEXT_ENCODERS.items())


def test_unknown_members_and_entries_are_refused():
    with pytest.raises(
        BadInput, match="no such text encoder; got 'sight'.*choices: bge, dpr_few_shot, dpr_zero_shot, e5"
    ):
        TEXT_ENCODERS["sight"]
    with pytest.raises(BadInput, match=r"kvqae\.text_encoders\.dpr_few_shot\.size: Extra inputs"):
        text_encoder_parameters("dpr_few_shot", {"model": "models", "size": 3})
