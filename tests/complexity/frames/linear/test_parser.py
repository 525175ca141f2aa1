"""The linear parser on a small invented world: what it learns, and what it must not look at."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.complexity.frame_world import PEOPLE, SITES, find, make_texts
from trivium.complexity.frames.linear.elements import EvokedFrame, learn_elements
from trivium.complexity.frames.linear.features import (
    Words,
    class_of,
    fit_logistic,
    hash_names,
    join_keys,
    log_odds,
    matrix,
)
from trivium.complexity.frames.linear.parser import WEIGHTS, LinearFrameParser
from trivium.complexity.frames.parser_folder import load_parser, save_parser
from trivium.complexity.frames.scores import elements_in, frames_in, score_texts, total
from trivium.core.errors import BadInput
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance, LexicalUnit, Span

NONE = frozenset(("Other_sense",))


def one_sentence(count: int, seed: int) -> list[AnnotatedText]:
    """Sentences with a frame, or with a noun that is annotated as evoking none."""
    texts = []
    for text in make_texts(count, seed=seed, sentences=1):
        frames = text.frames
        if not frames:
            unit = LexicalUnit("découverte", "noun", find(text.text, "découverte"))
            frames = (FrameInstance("Other_sense", unit, ()),)
        texts.append(replace(text, frames=frames))
    return texts


@pytest.fixture(scope="module")
def parser() -> LinearFrameParser:
    return LinearFrameParser.learn(one_sentence(150, 0), no_frames=NONE, partial=True, seed=0)


@pytest.fixture(scope="module")
def held() -> list[AnnotatedText]:
    return one_sentence(40, 1)


def true(texts: list[AnnotatedText]) -> list[AnnotatedText]:
    return [replace(text, frames=tuple(each for each in text.frames if each.frame not in NONE)) for text in texts]


def test_it_reads_sentences_that_it_has_not_seen(parser: LinearFrameParser, held: list[AnnotatedText]):
    found = parser.parse([text.text for text in held])
    assert total(score_texts(found, true(held), frames_in)).f1 > 0.95
    assert total(score_texts(found, true(held), elements_in)).f1 > 0.9
    cores = {element.name: element.core for frames in found for each in frames for element in each.elements}
    assert cores["Time"] == "peripheral"
    assert cores["Owner"] == "core"
    for frames, text in zip(found, held, strict=True):
        for each in frames:
            assert all(0 <= element.span.start < element.span.end <= len(text.text) for element in each.elements)


def test_given_frames_and_units_are_used_and_nothing_else_of_them(parser: LinearFrameParser, held: list[AnnotatedText]):
    plain, given = [text.text for text in held], [text.frames for text in true(held)]
    bare = [[replace(each, elements=()) for each in frames] for frames in given]
    elements = parser.with_elements(plain, given)
    assert elements == parser.with_elements(plain, bare)
    assert total(score_texts(elements, true(held), elements_in)).f1 > 0.9
    wrong = [[replace(each, frame="Losing") for each in frames] for frames in given]
    named = parser.frames_of(plain, given)
    assert parser.frames_of(plain, wrong) == named
    right = [
        name == each.frame
        for names, frames in zip(named, given, strict=True)
        for name, each in zip(names, frames, strict=True)
    ]
    assert np.mean(right) > 0.95  # "découvrir" evokes two frames, told apart by what is discovered


def test_an_inflection_that_was_never_seen_is_found_by_its_stem(parser: LinearFrameParser):
    text = f"En 1916, {PEOPLE[1].lower()} découvrait {SITES[0]}."
    ((found,),) = parser.parse([text])
    assert (found.frame, found.lexical_unit.lemma, found.lexical_unit.span.of(text)) == (
        "Discovery",
        "découvrir",
        "découvrait",
    )


def test_words_without_frame_and_unknown_units(parser: LinearFrameParser):
    assert parser.parse(["La découverte le temple plaît à La reine.", "Rien.", ""]) == [[], [], []]
    text = "Il mange."
    unknown = FrameInstance("?", LexicalUnit("manger", "verb", find(text, "mange")), ())
    assert parser.frames_of([text], [[unknown]]) == [["Discovery"]]  # the most frequent one
    assert parser.with_elements([text], [[unknown]]) == [[unknown]]
    nowhere = replace(unknown, lexical_unit=replace(unknown.lexical_unit, span=Span(2, 3)))  # a space
    assert parser.frames_of([text], [[nowhere]]) == [["Discovery"]]


def test_a_saved_parser_of_the_same_seed_reads_the_same(
    parser: LinearFrameParser, held: list[AnnotatedText], tmp_path: Path
):
    again = LinearFrameParser.learn(one_sentence(150, 0), no_frames=NONE, partial=True, seed=0)
    save_parser(tmp_path / "parser", again, base=tmp_path / "none", data="texts")
    loaded, plain = load_parser(tmp_path / "parser"), [text.text for text in held]
    assert loaded.parse(plain) == parser.parse(plain)
    assert loaded.labels == parser.labels
    assert "logistic regressions" in (tmp_path / "parser" / "README.md").read_text()
    (tmp_path / "parser" / WEIGHTS).rename(tmp_path / "parser" / "linear.safetensors")
    with pytest.raises(BadInput, match="earlier version"):
        load_parser(tmp_path / "parser")


def test_words_that_full_annotation_leaves_out_evoke_nothing():
    """Nothing is annotated where `découverte` stands; with full annotation, `perd` without annotation teaches, too."""
    texts = make_texts(60, seed=0, sentences=2)
    silent = [AnnotatedText(f"s{n}", "", "On perd toujours.", (), ()) for n in range(30)]
    (full, partial) = (
        LinearFrameParser.learn([*texts, *silent], no_frames=frozenset(), partial=partial, seed=0)
        for partial in (False, True)
    )
    assert [len(frames) for frames in full.parse(["On perd toujours."])] == [0]
    assert [len(frames) for frames in partial.parse(["On perd toujours."])] == [1]
    scores = total(score_texts(full.parse([text.text for text in texts]), texts, frames_in))
    assert scores.f1 > 0.9


def test_elements_share_no_word():
    text = "Le roi de la ville perd son or ."
    named = (("Owner", "Le roi de la ville"), ("Place", "de la ville"), ("Possession", "son or"))
    elements = tuple(FrameElement(name, find(text, words), "core") for name, words in named)
    instance = FrameInstance("Losing", LexicalUnit("perdre", "verb", find(text, "perd")), elements)
    taught = EvokedFrame.of(Words.of(text), instance)
    assert taught.elements == {("Owner", 0, 5), ("Place", 2, 5), ("Possession", 6, 8)}
    model = learn_elements([taught] * 12, {"Losing": ["Owner", "Place", "Possession"]}, 0)
    (found,) = model.find([EvokedFrame(taught.place, replace(instance, elements=()))])
    assert found in ([("Owner", 0, 5), ("Possession", 6, 8)], [("Place", 2, 5), ("Possession", 6, 8)])
    assert model.find([]) == []


def test_classes_are_hints():
    words = Words.of("L’armée n'a pas attaqué la 3e ville : Paris !")
    assert words.lower[0] == "l'"
    assert words.classes == (
        "determiner", "participle", "negation", "have", "negation", "participle", "determiner", "number", "-e", ":", "name", "!",
    )  # fmt: skip
    assert class_of("e\u0301tudier") == "infinitive"
    assert words.describe({"0": -1}) == words.describe({"0": 99}) == dict.fromkeys(("w0", "s0", "c0", "e0"), "#")


def test_logistic_regression_by_hashed_features_equals_one_without():
    """Against scikit-learn's other solver, on columns that are not hashed."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    names = [[f"f{number}" for number in np.flatnonzero(rng.random(8) < 0.4)] or ["none"] for _ in range(600)]
    plain = np.array([[f"f{number}" in row for number in range(8)] for row in names], dtype=float)
    true_odds = plain @ np.linspace(-2, 2, 8)
    labels = rng.random(600) < 1 / (1 + np.exp(-true_odds))
    rows = matrix([hash_names(row) for row in names])
    assert rows.shape[0] == 600
    assert (np.asarray(rows.sum(axis=1)).ravel() == [len(row) for row in names]).all()
    mine = log_odds(fit_logistic(rows, labels, 1e-4, 0), rows)
    theirs = LogisticRegression(C=1 / (600 * 1e-4)).fit(plain, labels).decision_function(plain)
    assert np.corrcoef(mine, theirs)[0, 1] > 0.98
    assert len(set(join_keys(hash_names(["a", "b"]), ["k"]).tolist()) | set(hash_names(["a", "b"]).tolist())) == 4
