from functools import partial

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder

from tests.kvqae.tiny_reader import write_world
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder, rerank_run, save_cross_encoder, score_pairs
from trivium.measures.runs import Run

QUESTION = "where was this man born ?"
PAIRS = [(text, passage) for text in (QUESTION, "where ?") for passage in range(24)]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def folder(world, tmp_path_factory):
    torch.manual_seed(3)
    model, tokenizer = load_cross_encoder(world.base, 32, new_perceptron=True)
    with torch.no_grad():
        model.classifier.weight.mul_(3000)  # random, with opinions
    out = tmp_path_factory.mktemp("cross_encoder") / "model"
    save_cross_encoder(out, model, tokenizer, base=world.base, data="nothing", metrics={})
    return out


@pytest.fixture(scope="module")
def texts(world):
    return read_passage_texts(world.kb, np.arange(24))


def score(folder, texts, pairs, batch=16, max_tokens=32):
    model = load_cross_encoder(folder, max_tokens)
    scores = score_pairs(*model, pairs, texts, max_tokens=max_tokens, batch=batch)
    return np.array([scores[pair] for pair in pairs])


def test_scores_are_those_of_sentence_transformers(folder, texts):
    peer = CrossEncoder(str(folder), max_length=32, device="cpu", activation_fn=torch.nn.Identity())
    expected = peer.predict([(question, " [SEP] ".join(texts[passage])) for question, passage in PAIRS])
    scores = score(folder, texts, PAIRS)
    assert np.ptp(scores) > 0.1
    assert scores == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_scores_do_not_depend_on_batch_order_or_company(folder, texts, batch):
    whole = score(folder, texts, PAIRS)
    assert score(folder, texts, PAIRS[::-1], batch=batch)[::-1] == pytest.approx(whole, abs=1e-3)
    assert score(folder, texts, PAIRS[5:6] * 2, batch=batch).tolist() == pytest.approx([whole[5]] * 2, abs=1e-3)
    assert score(folder, texts, PAIRS[::-1])[::-1].tolist() == whole.tolist()  # same batches, whatever the order


def test_re_ranked_lists(folder, texts):
    questions = [Question(str(n), text, ("alba",), "alba") for n, text in enumerate((QUESTION, "where ?", "who ?"))]
    run = Run(("0", "1", "2"), [[4, 1, 9], [3, 8, -1], [-1] * 3], [[3, 2, 1], [2, 1, np.nan], [np.nan] * 3], "initial")
    model, tokenizer = load_cross_encoder(folder, 32)
    scored = partial(score_pairs, model, tokenizer, texts=texts, max_tokens=32, batch=4)
    found = rerank_run(questions, run, scored)
    first = score(folder, texts, [(QUESTION, passage) for passage in (4, 1, 9)])
    assert found.documents[0].tolist() == [[4, 1, 9][place] for place in np.argsort(-first)]
    assert found.scores[0] == pytest.approx(-np.sort(-first), abs=1e-3)
    assert sorted(found.documents[1].tolist()) == [-1, 3, 8]
    assert found.documents[1, 2] == -1
    assert found.documents[2].tolist() == [-1] * 3
    with torch.no_grad():
        model.classifier.weight.zero_()
    tied = rerank_run(questions, run, scored)
    assert tied.documents.tolist() == run.documents.tolist()
