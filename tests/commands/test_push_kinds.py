"""What leaves loads in the library that its card names, by the card's own code, and gives what the graph's own gives."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from tests.commands.shared_project import (
    BLIP,
    CLIP,
    LONGEST,
    PAIR_TOKENS,
    TOKENS,
    VSE,
    code_of,
    front_matter,
)
from tests.complexity.tiny_readers import questions
from trivium.complexity.readers.interface import Reading, load_reader
from trivium.decorrelation.benchmark.benchmark_set import find_set
from trivium.decorrelation.models.interface import load
from trivium.kvqae.reader.reading import answer, read_pairs
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder, score_pairs
from trivium.kvqae.retrieval.text_encoder import encode, load_text_encoder, tokenize
from trivium.nets.pretrained import load_pretrained

CELLS = "models/decorrelation/cells"
PASSAGES = {0: ("w1 w2", "w3 is the w4"), 1: ("w5", "w6 " * 40)}


def card(folder):
    return (folder / "README.md").read_text("utf-8")


def run(folder, **replaced):
    """The card's code, with other texts; what it leaves behind."""
    code = code_of(card(folder))
    for old, new in replaced.pop("texts", {}).items():
        assert old in code
        code = code.replace(old, new)
    left = dict(replaced)
    exec(code, left)
    return left


def replaced_texts(question, passages, sentence="He was a British statesman."):
    """The texts of KVQAE's cards, and a question and two passages (title, text) in their place."""
    first, second = map(" [SEP] ".join, passages.values())
    return {
        "Which constituency did this man represent?": question,
        f"Winston Churchill [SEP] {sentence}": first,
        "Paris [SEP] It is a city.": second,
    }


def test_dpr_is_a_model_of_sentence_transformers(built, shared):
    out = shared("models/kvqae/dpr/few_shot")
    left = run(out, texts=replaced_texts("who is the w7 ?", PASSAGES))
    assert front_matter(card(out))["library_name"] == "sentence-transformers"
    expected = {}
    for way, asked, titles in (
        ("question", ["who is the w7 ?"], None),
        ("passage", ["w3 is the w4", "w6 " * 40], ["w1 w2", "w5"]),
    ):
        model, tokens = load_text_encoder(built / "models/kvqae/dpr/few_shot" / way, torch.device("cpu"))
        expected[way] = encode(model, tokens, tokenize(tokens, asked, TOKENS, titles=titles), 4)
    np.testing.assert_allclose(left["questions"], expected["question"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(left["passages"], expected["passage"], rtol=0, atol=1e-5)
    assert not np.allclose(left["passages"][0], left["model"].encode_query(["w1 w2 [SEP] w3 is the w4"])[0])


def test_the_cross_encoder_scores_as_the_graph_does(built, shared, capsys):
    out = shared("models/kvqae/cross_encoder/few_shot")
    left = run(out, texts=replaced_texts("where is w1 ?", PASSAGES))
    found = left["model"].predict(left["pairs"], activation_fn=torch.nn.Identity())
    model, tokenizer = load_cross_encoder(built / "models/kvqae/cross_encoder/few_shot", PAIR_TOKENS)
    model.cpu()  # in full precision, as on the left
    asked = [("where is w1 ?", 0), ("where is w1 ?", 1)]
    scored = score_pairs(model, tokenizer, asked, PASSAGES, max_tokens=PAIR_TOKENS, batch=2)
    expected = [scored[pair] for pair in asked]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_reader_of_passages_answers_as_the_graph_does(built, shared, seed):
    from transformers import BertForQuestionAnswering, BertTokenizer

    out = shared("models/kvqae/reader/few_shot/seed-0")
    rng = np.random.default_rng(seed)
    passages = {k: tuple(" ".join(f"w{n}" for n in rng.integers(0, 60, size)) for size in (3, 9)) for k in range(2)}
    left = run(out, texts=replaced_texts("where is w1 ?", passages, "He was a member for Dundee."))
    model, tokenizer = load_pretrained(
        BertForQuestionAnswering, built / "models/kvqae/reader/few_shot/seed-0", "a reader", tokenizer=BertTokenizer
    )
    asked = [("where is w1 ?", 0), ("where is w1 ?", 1)]
    read = read_pairs(model, tokenizer, asked, passages, max_tokens=PAIR_TOKENS, longest=LONGEST, batch=2)
    assert left["answer"] == answer("where is w1 ?", [0, 1], read).prediction != ""


@pytest.mark.parametrize("name", ["camembert", "mt5"])
def test_readers_of_french_answer_as_the_graph_does(built, shared, name):
    out = shared(f"models/complexity/readers/{name}/seed-0")
    reader = load_reader(built / f"models/complexity/readers/{name}/seed-0")
    for asked in questions(6):
        texts = {
            "Où naquit la reine ?": asked.question,
            "La reine naquit à Paris. Elle mourut en 1252.": asked.context,
        }
        (expected,) = reader.answer([Reading("1", asked.question, asked.context)], 1)
        assert run(out, texts=texts)["answer"] == expected.text


def test_an_adapter_names_its_base_on_the_hub(built, shared):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    out = shared("models/complexity/readers/llama/seed-0")
    said = front_matter(card(out))
    assert (said["library_name"], said["base_model"], said["license"]) == ("peft", "owner/llama", "llama2")
    assert json.loads((out / "adapter_config.json").read_text())["base_model_name_or_path"] == "owner/llama"
    assert not (out / "base.json").exists()
    base = AutoModelForCausalLM.from_pretrained(built / "models/complexity/base/llama")
    adapted = PeftModel.from_pretrained(base, out)
    assert any("lora" in name for name, _ in adapted.named_parameters())
    compile(code_of(card(out)), "card", "exec")


@pytest.mark.parametrize(("cell", "library"), [(CLIP, "open_clip"), (BLIP, "transformers"), (VSE, "trivium")])
def test_retrieval_models_compare_as_the_graph_does(built, shared, cell, library):
    out = shared(f"{CELLS}/{cell}")
    scores = run(out)["scores"]
    model = load(built / CELLS / cell)
    pixels = model.prepare(Image.open("picture.jpg"), training=False).unsqueeze(0)
    with torch.inference_mode():
        texts = model.encode_texts(model.tokenize(["A dog and a frisbee.", "A cat sits on a chair."]))
        expected = model.encode_images(pixels) @ texts.T
    assert front_matter(card(out))["library_name"] == library
    # Libraries scale pictures on their own: BLIP's on tensors, ours in Pillow.
    np.testing.assert_allclose(scores, expected, rtol=0, atol=2e-2 if cell == BLIP else 1e-5)
    if cell != BLIP:  # whose drawn weights give all texts nearly one vector
        assert np.ptp(np.array(expected)) > 1e-4


def test_a_released_set_is_asked_where_it_was_sent(built, shared):
    out = shared("data/decorrelation/sets")
    left = run(out)
    assert len(left["queries"]) == 9
    assert left["queries"][0]["image"].size == (64, 48)
    assert find_set(out, "coco").read_bytes() == (built / "data/decorrelation/sets/coco_cv2.parquet").read_bytes()
