"""A reader that starts from the packaged MiniLM learns from a part of PIAF and reads articles it has not seen.

MiniLM knows English, and a few minutes of one core on PIAF alone leave it where a random span is (ROUGE-L .09 to .08).
So it learns from the sample's French first, where to match question and context is easy to find.
"""

import time

import numpy as np
import pytest
import torch

from stages.complexity.corpus.squad import read_squad
from stages.complexity.readers.extractive import ExtractiveReader
from stages.complexity.readers.interface import Reading
from stages.complexity.readers.training import train
from stages.complexity.scoring.baselines import best_overlap_sentence, random_span
from stages.measures.french import exact_match, f1
from stages.measures.rouge import mangled, rouge_l
from stages.stage import CPU_BF16
from stages.world.sample.encoders.text import save_text
from stages.world.sample.french import build_french
from tests.complexity.tiny_readers import settings

HELD_OUT, ASKED = 40, 400  # articles; questions of theirs
EMPTY = 0.3  # share of the windows without answer that are trained on: most windows are


def fit(reader, features, work):
    work.mkdir()
    return train(reader, features, seed=0, work=work, checkpoint_every=10_000, log=lambda *_, **__: None)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_piaf(real, tmp_path, monkeypatch):
    monkeypatch.setenv(CPU_BF16, "1")  # as in params.yaml: where the processor has it
    piaf = read_squad(real("piaf") / "piaf-v1.0.json")
    rng = np.random.default_rng(0)
    titles = sorted({each.title for each in piaf.questions})
    held_out = set(rng.permutation(titles)[:HELD_OUT].tolist())
    training = [each for each in piaf.questions if each.title not in held_out]
    asked = [each for each in piaf.questions if each.title in held_out][:ASKED]

    save_text(tmp_path / "minilm", layers=range(3))
    torch.manual_seed(0)
    common = {"answer_tokens": 40, "frozen_embeddings": True, "frozen_layers": 1, "max_tokens": 128, "stride": 32}
    reader = ExtractiveReader.start(
        tmp_path / "minilm", settings(**common, learning_rate=7e-4, max_steps=280, epochs=1)
    )
    began = time.perf_counter()
    sample = build_french(0, train=4200, validation=40, evaluation=120, frame_texts=8).fquad["train"]
    first = fit(reader, reader.features(sample).items, tmp_path / "first")
    reader.settings = settings(**common, learning_rate=4e-4, max_steps=450, epochs=1)
    features = reader.features(training)
    kept = [each for each in features.items if each.end or rng.random() < EMPTY]
    trained = fit(reader, kept, tmp_path / "second")
    seconds = time.perf_counter() - began
    answers = [each.text for each in reader.answer([Reading(e.id, e.question, e.context) for e in asked], 16)]

    assert all(answer in each.context for answer, each in zip(answers, asked, strict=True))
    references = [each.answers[0][0] for each in asked]
    given = {
        "reader": answers,
        "overlap_sentence": [best_overlap_sentence(each.question, each.context) for each in asked],
        "random_span": [
            random_span(each.context, len(reference.split()), rng)
            for each, reference in zip(asked, references, strict=True)
        ],
    }
    scores = {}
    for name, predictions in given.items():
        pairs = list(zip(predictions, references, strict=True))
        scores[name] = {
            "em": np.mean([exact_match(*pair) for pair in pairs]),
            "f1": np.mean([f1(*pair) for pair in pairs]),
            "rouge_l": rouge_l(references, predictions).mean(),
            "rouge_l_paper": rouge_l(references, predictions, setting="paper").mean(),
        }
    share = np.mean([mangled(text) for each in piaf.questions for text, _ in each.answers])
    wrong = len(piaf.wrong_answers)
    print(f"\nPIAF: {len(training)} questions to train on, {len(asked)} of {HELD_OUT} other articles asked")
    print(f"left out: {piaf.dropped}; answers with a wrong offset: {wrong}; features: {features.counts}")
    print(f"{len(kept)} windows, {trained['epochs']:.2f} epochs; losses {first['loss']:.2f}, {trained['loss']:.2f}")
    print(f"{seconds:.0f} s, the sample's French included")
    for name, measured in scores.items():
        print(name, *(f"{measure} {value:.3f}" for measure, value in measured.items()))
    print(f"reference answers that the paper's tokenizer mangles: {share:.3f}")
    assert wrong == 2
    assert scores["reader"]["em"] > max(scores["overlap_sentence"]["em"], scores["random_span"]["em"])
    assert scores["reader"]["rouge_l"] > 1.5 * scores["random_span"]["rouge_l"]
    assert scores["reader"]["f1"] > 1.5 * scores["random_span"]["f1"]
    assert 0.4 < share < 0.5
