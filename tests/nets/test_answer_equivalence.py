"""BEM against its library's own network."""

from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from tests.kvqae.tiny_bert import write_tiny_bert
from trivium.core.errors import BadInput
from trivium.nets.answer_equivalence import AnswerEquivalence

CPU = torch.device("cpu")


def write_bem(folder: Path, labels: int = 2) -> Path:
    """A tiny BERT with classes."""
    write_tiny_bert(folder)
    torch.manual_seed(1)
    config = BertConfig.from_pretrained(folder, num_labels=labels)
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def test_probabilities_are_the_networks(tmp_path: Path) -> None:
    folder = write_bem(tmp_path)
    triples = [("who is w1 ?", "w2", "w3 w4"), ("where ?", "w5", "w5")]
    values = AnswerEquivalence(folder, CPU)(triples, batch_size=1)
    model, tokenizer = (
        BertForSequenceClassification.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    for (question, reference, candidate), value in zip(triples, values, strict=True):
        text = f"[CLS] {candidate} [SEP] {reference} [SEP] {question} [SEP]"
        ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
        segments = (ids == tokenizer.sep_token_id).cumsum(dim=1).clamp(max=1)
        segments[0, (ids[0] == tokenizer.sep_token_id).nonzero()[0]] = 0
        with torch.inference_mode():
            expected = model(input_ids=ids, token_type_ids=segments).logits.softmax(dim=1)[0, 1]
        assert value == pytest.approx(float(expected), abs=1e-5)


def test_a_model_of_other_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="another number of classes; got 3; expected 2"):
        AnswerEquivalence(write_bem(tmp_path, labels=3), CPU)
