"""ROUGE-L: equal to the untouched package, to a textbook LCS, and to pencil and paper."""

import json
import random
import unicodedata

import numpy as np
import pytest
from rouge_score import rouge_scorer

from trivium.measures.french import words
from trivium.measures.rouge import is_mangled, rouge_l

TEXT = (
    "la première armée d'Orient a été défaite à l’été 1915 près de la forêt où l'évêque naïf cédait œuvres et "
    "maïs aujourd'hui jusqu'à Noël cœur XVIIIᵉ Sénonais (l'île) «\u00a0hôtel\u00a0» 10\u202f000 hommes ; ça ! ÉTÉ Été"
)


def generated_pairs(count):
    known = TEXT.split(" ")
    rng = random.Random(0)
    for _ in range(count):
        reference = [rng.choice(known) for _ in range(rng.randrange(9))]
        prediction = [word for word in reference if rng.random() < 0.6]
        prediction += [rng.choice(known) for _ in range(rng.randrange(4))]
        if rng.random() < 0.2:
            rng.shuffle(prediction)
        text = " ".join(prediction)
        yield " ".join(reference), unicodedata.normalize("NFD", text) if rng.random() < 0.1 else text


def untouched(references, predictions):
    scorer = rouge_scorer.RougeScorer(["rougeL"])
    return [
        scorer.score(reference, prediction)["rougeL"].fmeasure
        for reference, prediction in zip(references, predictions, strict=True)
    ]


def f_by_lcs(reference, prediction):
    """F from a recursive LCS, another algorithm than the package's."""
    a, b = words(reference), words(prediction)
    lengths = {}
    for i in reversed(range(len(a) + 1)):
        for j in reversed(range(len(b) + 1)):
            if i == len(a) or j == len(b):
                lengths[i, j] = 0
            elif a[i] == b[j]:
                lengths[i, j] = 1 + lengths[i + 1, j + 1]
            else:
                lengths[i, j] = max(lengths[i + 1, j], lengths[i, j + 1])
    return 2 * lengths[0, 0] / (len(a) + len(b)) if lengths[0, 0] else 0.0


def test_paper_setting_is_the_untouched_package_on_every_pair():
    references, predictions = zip(*generated_pairs(2000), strict=True)
    assert rouge_l(references, predictions, setting="paper").tolist() == untouched(references, predictions)


def test_unicode_setting_is_the_longest_common_subsequence_of_words():
    references, predictions = zip(*generated_pairs(500), strict=True)
    expected = list(map(f_by_lcs, references, predictions))
    np.testing.assert_allclose(rouge_l(references, predictions), expected, atol=1e-12)
    assert len(set(expected)) > 10


@pytest.mark.parametrize(
    ("reference", "prediction", "unicode", "paper"),
    [
        # LCS of 3 and 2 words is 2: F = 2·2/(3+2). The paper's setting makes premi re arm e of it: 3 of 5 and 3.
        ("la première armée", "la première", 2 * 2 / 5, 2 * 3 / (5 + 3)),
        # Another accent, another word; the paper's setting cannot tell them apart.
        ("foré", "forê", 0.0, 1.0),
        # Order counts: of "a b c d" and "d a b c", "a b c" is common.
        ("a b c d", "d a b c", 3 / 4, 3 / 4),
        # A word of accented letters alone vanishes in the paper's setting.
        ("été", "été", 1.0, 1.0),
        ("à", "à", 1.0, 0.0),
        ("l’an", "l'an", 1.0, 1.0),
        ("", "mot", 0.0, 0.0),
        ("mot", " ", 0.0, 0.0),
    ],
)
def test_pencil_and_paper(reference, prediction, unicode, paper):
    assert rouge_l([reference], [prediction]) == pytest.approx([unicode])
    assert rouge_l([reference], [prediction], setting="paper") == pytest.approx([paper])


def test_order_of_the_pairs_and_repetitions_do_not_matter():
    references, predictions = map(list, zip(*generated_pairs(50), strict=True))
    values = rouge_l(references, predictions)
    assert (rouge_l(references[::-1] * 2, predictions[::-1] * 2) == np.tile(values[::-1], 2)).all()
    assert rouge_l([], []).shape == (0,)


def test_lists_of_different_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        rouge_l(["a"], [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("la guerre de 14", False),
        ("l'armistice, (1918)", False),
        ("première", True),
        ("L’ÎLE", True),
        ("à", True),
        ("aujourd'hui", True),
        ("", False),
    ],
)
def test_mangled(text, expected):
    assert is_mangled(text) is expected


@pytest.mark.real
def test_paper_setting_is_the_untouched_package_on_piaf(real):
    data = json.loads((real("piaf") / "piaf-v1.0.json").read_text(encoding="utf-8"))["data"]
    answers = [
        answer["text"]
        for article in data
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
        for answer in question["answers"]
    ]
    contexts = [paragraph["context"][:200] for article in data for paragraph in article["paragraphs"]]
    rng = random.Random(0)
    predictions = [answer[rng.randrange(4) :] if rng.random() < 0.7 else rng.choice(contexts) for answer in answers]
    assert rouge_l(answers, predictions, setting="paper").tolist() == untouched(answers, predictions)
    share = np.mean([is_mangled(answer) for answer in answers])
    assert len(answers) == 3835
    # Read off once: in four answers of ten the paper's tokenizer loses or splits a word.
    assert share == pytest.approx(0.4295, abs=5e-5)
