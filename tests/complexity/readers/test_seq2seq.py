"""The encoder-decoder reader: loss against the formula, greedy writing against a plain loop, cuts that are counted."""

import shutil
import unicodedata

import pytest
import torch

from tests.complexity.tiny_generators import seq2seq_settings, write_t5
from tests.complexity.tiny_readers import questions
from trivium.complexity.readers.generation import prompts_of
from trivium.complexity.readers.interface import Reading
from trivium.complexity.readers.kinds.seq2seq import Seq2SeqReader
from trivium.formats.squad import SquadQuestion


@pytest.fixture(scope="module", params=["t5", "flan_t5", "mt5"])
def base(request, tmp_path_factory):
    return write_t5(tmp_path_factory.mktemp("base") / request.param, request.param)


@pytest.fixture(scope="module")
def mt5(tmp_path_factory):
    return write_t5(tmp_path_factory.mktemp("base") / "mt5")


@pytest.fixture
def reader(base):
    made = Seq2SeqReader.start(base, seq2seq_settings())
    made.module.eval()
    # Untrained, it repeats the token it starts with: silence that one, and let attention choose.
    with torch.no_grad():
        made.module.get_input_embeddings().weight[made.tokenizer.pad_token_id] = 0
        made.module.decoder.block[0].layer[1].EncDecAttention.q.weight.mul_(30)
    return made


def readings(asked):
    return [Reading(each.id, each.question, each.context) for each in asked]


def question(context, answer, text="Qui ?"):
    return SquadQuestion("q", "t", context, text, ((answer, context.index(answer)),))


def test_prompt_and_target_say_what_they_should(reader):
    asked = questions(5)
    features = reader.features(asked)
    for each, pair in zip(asked, features.items, strict=True):
        assert reader.tokenizer.decode(pair.prompt) == f"question: {each.question} contexte: {each.context}</s>"
        assert reader.tokenizer.decode(pair.target) == f" {each.answers[0][0]}</s>"
        assert pair.tokens == len(pair.prompt) + len(pair.target)
    assert not any(features.counts.values())


def test_loss_is_the_mean_of_each_answers_cross_entropy(reader):
    features = reader.features(questions(5)).items
    expected = []
    for pair in features:
        written = [reader.module.config.decoder_start_token_id, *pair.target[:-1].tolist()]
        logits = reader.module(
            input_ids=torch.tensor([pair.prompt.tolist()]), decoder_input_ids=torch.tensor([written])
        ).logits[0]
        chosen = logits[range(len(written)), pair.target.tolist()]
        expected.append((logits.logsumexp(-1) - chosen).mean())
    assert len({len(pair.target) for pair in features}) > 1
    assert float(reader.loss(features)) == pytest.approx(float(torch.stack(expected).mean()), rel=1e-4)


def test_answers_are_written_greedily(reader):
    asked = readings(questions(4))
    expected = []
    for each in asked:
        ids = reader.tokenizer(f"question: {each.question} contexte: {each.context}", return_tensors="pt").input_ids
        written = [reader.module.config.decoder_start_token_id]
        while len(written) <= reader.settings.answer_tokens and written[-1] != reader.tokenizer.eos_token_id:
            with torch.no_grad():
                logits = reader.module(input_ids=ids, decoder_input_ids=torch.tensor([written])).logits
            written.append(int(logits[0, -1].argmax()))
        expected.append(reader.tokenizer.decode(written[1:], skip_special_tokens=True).strip())
    assert [each.text for each in reader.answer(asked, 4)] == expected


def test_the_folders_own_way_of_generating_does_not_count(mt5, tmp_path):
    folder = shutil.copytree(mt5, tmp_path / "sampling")
    (folder / "generation_config.json").write_text('{"do_sample": true, "temperature": 9.0, "max_length": 3}')
    asked = readings(questions(6))
    plain = Seq2SeqReader.start(mt5, seq2seq_settings()).answer(asked, 6)
    assert Seq2SeqReader.start(folder, seq2seq_settings()).answer(asked, 6) == plain


def test_long_contexts_lose_their_end_and_lost_answers_are_left_out(mt5):
    reader = Seq2SeqReader.start(mt5, seq2seq_settings(max_tokens=48))
    long = " ".join(each.context for each in questions(9))
    early, late = question("La reine fuit. " + long, "La reine"), question(long + " Le consul fuit.", "Le consul")
    features = reader.features([early, late])
    assert features.counts["contexts_cut"] == 2
    assert features.counts["answers_lost"] == 1
    (pair,) = features.items
    assert len(pair.prompt) <= 48
    text = reader.tokenizer.decode(pair.prompt, skip_special_tokens=True)
    assert f"question: Qui ? contexte: {early.context}".startswith(text)
    assert len(pair.prompt) > 40


def test_answers_tell_how_much_was_read_and_whether_they_end(mt5):
    reader = Seq2SeqReader.start(mt5, seq2seq_settings(max_tokens=48))
    long = " ".join(each.context for each in questions(9))
    (cut,) = prompts_of(
        reader.tokenizer, reader.settings.model_copy(update={"max_tokens": 48}), [Reading("q", "Qui ?", long)]
    )
    short, end = "La reine fuit.", reader.tokenizer.eos_token_id
    reader.module.generate = lambda input_ids, attention_mask: torch.tensor([[0, 9, end, 0], [end, 9, 9, 9]])
    found = reader.answer([Reading("s", "Qui ?", short), Reading("l", "Qui ?", long)], 2)
    assert [(each.read, each.ended) for each in found] == [(len(short), False), (len(cut.context), True)]
    assert 0 < len(cut.context) < len(long)


def test_cut_answers_have_no_end(mt5):
    reader = Seq2SeqReader.start(mt5, seq2seq_settings(answer_tokens=2))
    features = reader.features(questions(4))
    assert features.counts["answers_cut"] == 4
    for pair in features.items:
        assert len(pair.target) == 2
        assert reader.tokenizer.eos_token_id not in pair.target


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_and_narrow_spaces_survive(mt5, form):
    reader = Seq2SeqReader.start(mt5, seq2seq_settings(answer_tokens=64))
    answer = unicodedata.normalize(form, "l’été\u00a01917 «\u202fécrasé\u202f»\u2009; {x}")
    features = reader.features([question(f"Dit : {answer}.", answer)])
    assert features.counts["answers_respelt"] == 0
    assert reader.tokenizer.decode(features.items[0].target, skip_special_tokens=True) == f" {answer}"
