import pytest
from transformers import AutoTokenizer

from tests.complexity.frame_world import make_texts, write_encoder
from trivium.complexity.frames.windows import sentences_of, windows_of, words_of


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return AutoTokenizer.from_pretrained(write_encoder(tmp_path_factory.mktemp("encoder")))


def pieces(text):
    return [span.of(text) for span in sentences_of(text)]


def test_sentences():
    text = "Il vint en 52. Puis, « Allons ! » Il partit… Où ?\nÀ Rome, selon M. Nau et J. Dupont (p. 12).  "
    assert pieces(text) == [
        "Il vint en 52.", "Puis, « Allons ! »", "Il partit…", "Où ?", "À Rome, selon M. Nau et J. Dupont (p. 12)."
    ]  # fmt: skip
    assert pieces("César, né en 100 av. J.-C. à Rome, vécut. Fin") == [
        "César, né en 100 av. J.-C. à Rome, vécut.",
        "Fin",
    ]
    assert pieces(" \n ") == []


def test_words_keep_elision_and_offsets():
    text = "L'armée d’Élis, aujourd'hui."
    assert [span.of(text) for span in words_of(text)] == ["L'", "armée", "d’", "Élis", ",", "aujourd'", "hui", "."]
    assert words_of("a b", 10)[1].start == 12


def test_decomposed_and_non_breaking_characters_keep_their_offsets(tokenizer):
    text = "Le ge\u0301ne\u0301ral perdit\u00a0le temple\u202f!"
    (window,), _ = windows_of([text], tokenizer, 60)
    assert [word.of(text) for word in window.words] == ["Le", "ge\u0301ne\u0301ral", "perdit", "le", "temple", "!"]
    spaced = windows_of([text.replace("\u202f", " ").replace("\u00a0", " ")], tokenizer, 60)[0][0]
    assert spaced.words == window.words


def test_first_and_last_tokens_hold_the_word(tokenizer):
    texts = [text.text for text in make_texts(8, seed=3)]
    windows, cut = windows_of(texts, tokenizer, 60)
    assert cut == 0
    assert len(windows) == 24
    for window in windows:
        text = texts[window.text]
        start = window.words[0].start
        offsets = tokenizer(text[start : window.words[-1].end], return_offsets_mapping=True)["offset_mapping"]
        for word, first, last in zip(window.words, window.first_tokens, window.last_tokens, strict=True):
            assert start + offsets[first][0] <= word.start < start + offsets[first][1]
            assert start + offsets[last][0] < word.end <= start + offsets[last][1]


@pytest.mark.parametrize("max_tokens", [4, 6, 9])
def test_long_sentences_are_cut_counted_and_lose_no_word(tokenizer, max_tokens):
    texts = [text.text for text in make_texts(3, seed=4)]
    whole, _ = windows_of(texts, tokenizer, 60)
    windows, cut = windows_of(texts, tokenizer, max_tokens)
    assert all(len(window.input_ids) <= max_tokens for window in windows)
    assert cut == sum(len(window.input_ids) > max_tokens for window in whole)
    assert [word for window in windows for word in window.words] == [word for window in whole for word in window.words]
