"""A reader that starts from the packaged MiniLM learns from a part of PIAF and reads articles it has not seen."""

import time

import numpy as np
import pytest
import torch

from stages.complexity.extractive import ExtractiveReader
from stages.complexity.reader import Reading
from stages.complexity.squad import read_squad
from stages.complexity.training import train
from stages.measures.french import exact_match, f1
from stages.measures.rouge import mangled, rouge_l
from stages.stage import CPU_BF16
from stages.world.sample.encoders.text import save_text
from tests.complexity.tiny_readers import settings

HELD_OUT = 40  # articles
STEPS = 260


def sentence_with_most_question_words(each):
    """A baseline that reads nothing: the sentence of the context that shares most words with the question."""
    asked = {word.lower() for word in each.question.split()}
    return max(each.context.split(". "), key=lambda sentence: len(asked & {word.lower() for word in sentence.split()}))


@pytest.mark.real
@pytest.mark.slow
def test_piaf(real, tmp_path, monkeypatch):
    monkeypatch.setenv(CPU_BF16, "1")  # as in params.yaml: where the processor has it
    piaf = read_squad(real("piaf") / "piaf-v1.0.json")
    titles = sorted({each.title for each in piaf.questions})
    held_out = set(np.random.default_rng(0).permutation(titles)[:HELD_OUT].tolist())
    training = [each for each in piaf.questions if each.title not in held_out]
    asked = [each for each in piaf.questions if each.title in held_out][:400]

    save_text(tmp_path / "minilm", layers=range(6))
    torch.manual_seed(0)
    own = settings(
        max_tokens=176, stride=48, answer_tokens=40, batch_size=8, mini_batch_size=8, learning_rate=4e-4,
        frozen_embeddings=True, frozen_layers=2, max_steps=STEPS, epochs=2,
    )  # fmt: skip
    reader = ExtractiveReader.start(tmp_path / "minilm", own)
    began = time.perf_counter()
    features = reader.features(training)
    trained = train(reader, features.items, seed=0, work=tmp_path, checkpoint_every=10_000, log=lambda *_, **__: None)
    seconds = time.perf_counter() - began
    answers = reader.answer([Reading(each.id, each.question, each.context) for each in asked], 16)

    assert all(answer in each.context for answer, each in zip(answers, asked, strict=True))
    references = [each.answers[0][0] for each in asked]
    baseline = [sentence_with_most_question_words(each) for each in asked]
    scores = {}
    for name, given in (("reader", answers), ("baseline", baseline)):
        pairs = list(zip(given, references, strict=True))
        scores[name] = {
            "em": np.mean([exact_match(*pair) for pair in pairs]),
            "f1": np.mean([f1(*pair) for pair in pairs]),
            "rouge_l": rouge_l(references, given).mean(),
            "rouge_l_paper": rouge_l(references, given, setting="paper").mean(),
        }
    share = np.mean([mangled(text) for each in piaf.questions for text, _ in each.answers])
    print(f"\nPIAF: {len(training)} questions to train on, {len(asked)} of {HELD_OUT} other articles asked")
    print(
        f"left out: {piaf.dropped}; answers with a wrong offset: {len(piaf.wrong_answers)}; features: {features.counts}"
    )
    print(
        f"{trained['steps']:.0f} steps ({trained['epochs']:.2f} epochs) in {seconds:.0f} s, loss {trained['loss']:.2f}"
    )
    for name, measured in scores.items():
        print(name, *(f"{measure} {value:.3f}" for measure, value in measured.items()))
    print(f"reference answers that the paper's tokenizer mangles: {share:.3f}")
    assert len(piaf.wrong_answers) == 2
    assert scores["reader"]["f1"] > scores["baseline"]["f1"] + 0.05
    assert scores["reader"]["rouge_l"] > scores["baseline"]["rouge_l"] + 0.05
    assert scores["reader"]["em"] > 0.1
    assert 0.5 < share < 1
