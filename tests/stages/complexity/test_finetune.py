"""Fine-tuning: fixed steps, resumable to the bit, the same whatever the mini-batch; the stage from files to files."""

import pytest
import torch

from stages.complexity import finetune
from tests.complexity.tiny_readers import questions, settings, write_camembert
from tests.nets.curves import Curves
from trivium.complexity.readers.finetuning import FinetuneParameters, mean_loss, train
from trivium.complexity.readers.interface import Reading, load_reader
from trivium.complexity.readers.kinds.extractive import ExtractiveReader
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import write_json
from trivium.core.tracking import Tracker
from trivium.formats.squad import write_squad


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    write_camembert(folder / "camembert")
    write_json(folder / "camembert" / "provenance.json", {"from": "a tiny one", "licence": "mit"})
    return folder


def start(base, **changes):
    torch.manual_seed(0)
    return ExtractiveReader.start(base / "camembert", settings(**changes))


def without_dropout(reader):
    for module in reader.module.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return reader


def run(reader, work, curves=None, every=4, count=40):
    work.mkdir(exist_ok=True)
    features = reader.features(questions(count)).items
    return train(reader, features, seed=3, work=work, checkpoint_every=every, log=curves or Curves())


def weights(reader):
    return {name: value.clone() for name, value in reader.module.state_dict().items()}


def test_frozen_weights_stay_and_are_in_no_checkpoint(base, tmp_path):
    from safetensors.torch import load_file

    reader = start(base, frozen_embeddings=True)
    before = weights(reader)
    run(reader, tmp_path / "work")
    changed = {name for name, value in weights(reader).items() if not torch.equal(value, before[name])}
    assert not any("embeddings" in name for name in changed)
    assert any("qa_outputs" in name for name in changed)
    kept = load_file(tmp_path / "work" / "checkpoint" / "model.safetensors")
    assert not any("embeddings" in name for name in kept)


def test_mini_batches_change_nothing_but_memory(base, tmp_path):
    logged = []
    for size in (8, 3, 1):
        curves = Curves()
        run(without_dropout(start(base, mini_batch_size=size, max_steps=1)), tmp_path / str(size), curves)
        logged.append(curves.points[1])
    for other in logged[1:]:
        assert other == pytest.approx(logged[0], rel=1e-4)


def test_it_learns_to_read(base, tmp_path):
    reader = start(base, learning_rate=5e-3, epochs=9, batch_size=16, mini_batch_size=16)
    before = mean_loss(reader, reader.features(questions(20, seed=9)).items)
    run(reader, tmp_path / "work", count=240)
    asked = questions(40, seed=8)
    answers = reader.answer([Reading(each.id, each.question, each.context) for each in asked], 16)
    right = [answer.text == each.answers[0][0] for answer, each in zip(answers, asked, strict=True)]
    assert sum(right) / len(right) > 0.8
    assert mean_loss(reader, reader.features(questions(20, seed=9)).items) < before / 3


@pytest.fixture
def files(tmp_path):
    write_squad(tmp_path / "train.json", questions(40))
    write_squad(tmp_path / "validation.json", questions(12, seed=1))
    return tmp_path


def parameters(**changes):
    told = settings(**changes.pop("told", {}))
    models = {"tiny": told.model_dump()}
    values = {"run": ["tiny"], "seeds": [0], "validation_questions": 8, "validation_batch": 4, "checkpoint_every": 5}
    return FinetuneParameters.model_validate(values | {"models": models, "settings": models["tiny"]} | changes)


def stage(files, base, out, own=None, **changes):
    work = files / "work" / out.name
    work.mkdir(parents=True, exist_ok=True)
    arguments = {"name": "tiny", "seed": 0} | changes
    return finetune.main(
        own or parameters(),
        Context(tracker=Tracker(), work=work, engine=LocalEngine(1)),
        base=base,
        train=files / "train.json",
        validation=files / "validation.json",
        out=out,
        **arguments,
    )


def test_from_files_to_a_reader_with_a_card(files, base, tmp_path):
    metrics = stage(files, base, tmp_path / "out")
    assert metrics["steps"] == 10
    assert metrics["train_windows"] == metrics["features"] == 40
    assert metrics["train_dropped"] == metrics["train_answers_lost"] == 0
    assert metrics["validation_questions"] == 8
    assert 0 <= metrics["validation_em"] <= metrics["validation_rouge_l"] <= 1
    assert metrics["parameters_trained"] == metrics["parameters"]
    card = (tmp_path / "out" / "README.md").read_text()
    assert "license: mit" in card
    assert "a tiny one" in card
    assert "hardly reads" in card
    (asked,) = [Reading(each.id, each.question, each.context) for each in questions(1)]
    assert load_reader(tmp_path / "out").answer([asked], 2)[0].text in asked.context

    # The same seed, the same reader; another seed, another.
    again = stage(files, base, tmp_path / "again")
    other = stage(files, base, tmp_path / "other", seed=1)
    assert again == metrics
    assert other["loss"] != metrics["loss"]
