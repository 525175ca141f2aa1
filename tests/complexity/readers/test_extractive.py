"""The extractive reader: windows, loss and decoding against plain loops; answers that depend on nothing but the text."""

import math
import unicodedata
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch

from tests.complexity.tiny_readers import questions, settings, write_camembert
from trivium.complexity.readers.interface import Answer, Reading
from trivium.complexity.readers.kinds.extractive import ExtractiveReader, best_spans, question_limit, windows_of
from trivium.formats.squad import SquadQuestion


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return write_camembert(tmp_path_factory.mktemp("base") / "camembert", layers=2)


@pytest.fixture
def reader(base):
    torch.manual_seed(1)
    made = ExtractiveReader.start(base, settings())
    made.module.eval()
    # A new head is nearly indifferent: make it choose.
    made.module.qa_outputs.weight.data.mul_(50)
    return made


@pytest.fixture
def fast(base):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(base)


def question(context, answer, text="Qui ?"):
    return SquadQuestion("q", "t", context, text, ((answer, context.index(answer)),))


@pytest.mark.parametrize("longest", [1, 2, 3, 9])
def test_best_span_is_what_trying_all_finds(longest):
    generator = torch.Generator().manual_seed(longest)
    starts, ends = (torch.randn(20, 7, generator=generator).round(decimals=1) for _ in range(2))
    starts[3, 2:5] = ends[5, 1:] = -torch.inf
    scores, first, last = best_spans(starts, ends, longest)
    for row in range(20):
        spans = [(i, j) for i in range(7) for j in range(i, min(7, i + longest))]
        best = max(spans, key=lambda span: float(starts[row, span[0]] + ends[row, span[1]]))
        assert (int(first[row]), int(last[row])) == best
        assert float(scores[row]) == float(starts[row, best[0]] + ends[row, best[1]])


def test_windows_cover_a_long_context_and_share_the_stride(fast):
    context = " ".join(each.context for each in questions(12))
    windows, cut = windows_of(fast, [Reading("q", "Qui a détruit un théâtre ?", context)], max_tokens=48, stride=8)
    assert cut == 0
    assert len(windows) > 3
    assert all(window.tokens <= 48 for window in windows)
    for left, right in pairwise(windows):
        assert left.offsets[-8:].tolist() == right.offsets[:8].tolist()
    covered = {place for window in windows for left, right in window.offsets.tolist() for place in range(left, right)}
    assert {place for place, letter in enumerate(context) if not letter.isspace()} <= covered


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_offsets_bring_back_the_characters_as_written(fast, form):
    context = unicodedata.normalize(
        form, "À l’été\u00a01917, l'armée «\u202fécrasée\u202f» a cédé Liège\u2009; là-bas… 𝔄 fin"
    )
    (window,), _ = windows_of(fast, [Reading("q", "Où ?", context)], max_tokens=200, stride=8)
    for answer in ("l’été", "1917", "écrasée", "Liège", "là-bas", "𝔄"):
        answer = unicodedata.normalize(form, answer)
        start = context.index(answer)
        place = window.place(start, start + len(answer))
        left, right = window.characters(*place)
        assert context[left:right] == answer
    assert window.place(len(context), len(context) + 3) is None


def test_a_long_question_is_cut_and_counted(reader):
    long = question("La légion a détruit le camp.", "La légion", "Qui donc a détruit le camp ? " * 20)
    features = reader.features([long, *questions(3)])
    assert features.counts["questions_cut"] == 1
    (first, *_) = features.items
    assert first.tokens <= 64
    assert first.first - 3 <= question_limit(64)


def test_an_answer_in_no_window_is_left_out_and_counted(reader):
    sentence = "la légion et la reine et le préfet et l'équipe "
    lost = question(sentence * 8, (sentence * 6).strip())
    features = reader.features([lost, *questions(3)])
    assert features.counts["answers_lost"] == 1
    assert {feature.owner for feature in features.items} == {1, 2, 3}


def test_windows_without_the_answer_point_to_the_first_token(reader):
    context = " ".join(each.context for each in questions(8)) + " Le consul fuit."
    features = reader.features([question(context, "Le consul")])
    *others, last = features.items
    assert [(each.start, each.end) for each in others] == [(0, 0)] * len(others)
    assert features.counts["windows_without_answer"] == len(others) > 0
    left, right = last.characters(last.start, last.end)
    assert context[left:right] == "Le consul"


def test_loss_by_hand(reader, monkeypatch):
    """Logits of 0, but of ln 3 at the answer's first token, and of 100 in the question, which has no part.

    Of n tokens of context and the first token, the start has the share 3 / (n + 3), the end 1 / (n + 1).
    """
    context = "Le consul fuit le camp."
    asked, count = (len(reader.tokenizer.tokenize(text)) for text in ("Qui ?", context))

    def forward(input_ids, **_):
        logits = torch.zeros(2, *input_ids.shape)
        logits[:, :, 1 : asked + 1] = 100.0
        logits[0, :, asked + 3] = math.log(3)  # behind <s> question </s> </s>
        return SimpleNamespace(start_logits=logits[0], end_logits=logits[1])

    monkeypatch.setattr(reader.module, "forward", forward)
    features = reader.features([question(context, "Le consul")]).items
    expected = (math.log((count + 3) / 3) + math.log(count + 1)) / 2
    assert float(reader.loss(features)) == pytest.approx(expected, rel=1e-5)


def test_answers_are_the_best_span_over_all_windows_found_by_loops(reader):
    contexts = [" ".join(each.context for each in questions(count, seed=count)) for count in (1, 4, 9)]
    asked = [Reading(str(row), "Qui a détruit la cité antique ?", context) for row, context in enumerate(contexts)]
    found = reader.answer(asked, batch_size=4)
    for reading, answer in zip(asked, found, strict=True):
        windows, _ = windows_of(reader.tokenizer, [reading], max_tokens=64, stride=8)
        best = (float("-inf"), "")
        for window in windows:
            ids, types = torch.tensor([window.ids.tolist()]), (torch.arange(window.tokens) >= window.first).long()[None]
            with torch.no_grad():
                output = reader.module(input_ids=ids, token_type_ids=types)
            allowed = [0, *range(window.first, window.last)]
            start = {place: output.start_logits[0, place] for place in allowed}
            end = {place: output.end_logits[0, place] for place in allowed}
            norm = torch.logsumexp(torch.stack([*start.values()]), 0) + torch.logsumexp(torch.stack([*end.values()]), 0)
            for i in range(window.first, window.last):
                for j in range(i, min(window.last, i + 12)):
                    score = float(start[i] + end[j] - norm)
                    left, right = window.characters(i, j)
                    if score > best[0] + 1e-6:
                        best = (score, reading.context[left:right].strip())
        assert answer == Answer(best[1], len(reading.context))
        assert answer.text in reading.context


def test_layers_are_cut_and_frozen(base):
    made = ExtractiveReader.start(base, settings(layers=1, frozen_layers=1, frozen_embeddings=True))
    trained = {name for name, weights in made.module.named_parameters() if weights.requires_grad}
    assert len(made.module.base_model.encoder.layer) == made.module.config.num_hidden_layers == 1
    assert trained == {"qa_outputs.weight", "qa_outputs.bias"}
