"""Every kind of reader: found by its file, and whole from start to answer."""

import math

import pytest
import torch

from tests.complexity.tiny_generators import write_llama, write_t5
from tests.complexity.tiny_readers import OWN, questions, settings, write_camembert
from trivium.complexity.readers.interface import READERS, Answer, Reading, load_reader, settings_of

BASES = {"camembert": write_camembert, "mt5": write_t5, "llama": write_llama}
COMMON = ("label", "weak", "max_tokens", "answer_tokens", "batch_size", "learning_rate", "epochs", "max_steps")


def told(kind):
    """Settings of a tiny reader: what every kind is told, and the kind's own."""
    common = {name: value for name, value in settings().model_dump().items() if name in COMMON}
    return settings_of(common | {"max_tokens": 96, "kind": kind} | OWN[kind])


@pytest.mark.parametrize("kind", READERS)
def test_a_kind_reads_from_start_to_answer(tmp_path, kind):
    own = told(kind)
    torch.manual_seed(0)
    reader = READERS[kind].start(BASES[own.base](tmp_path / own.base), own)
    features = reader.features(questions(4)).items
    assert features
    assert math.isfinite(float(reader.loss(features)))
    (tmp_path / "saved").mkdir()
    reader.save(tmp_path / "saved")
    asked = [Reading(each.id, each.question, each.context) for each in questions(3)]
    assert not [path for path in (tmp_path / "saved").rglob("*") if path.suffix in (".bin", ".pt", ".pkl")]
    again = load_reader(tmp_path / "saved")
    assert again.settings == own
    assert not again.module.training
    answers = reader.answer(asked, 3)
    assert again.answer(asked, 2) == answers
    assert reader.answer(asked[::-1], 2) == answers[::-1]
    assert reader.answer([], 2) == []
    assert reader.answer([Reading("e", "Qui ?", ""), *asked], 4) == [Answer("", 0), *answers]
