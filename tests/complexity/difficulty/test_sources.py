"""Where a loss comes from: a truth is planted for each verdict, on invented and on real texts."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.complexity.difficulty.asked import question
from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.effects import UNKNOWN
from trivium.complexity.difficulty.material import DifficultySettings
from trivium.complexity.difficulty.result import Difficulty
from trivium.complexity.difficulty.scores import best_overlap_answers, random_spans
from trivium.complexity.factors.free_factors import MADE_OF_OVERLAP, ReadText, free_factors, read_text
from trivium.formats.question_sets import QuestionSet, read_question_set
from trivium.language.languages import Language, language_of

FAST = DifficultySettings(resamples=100)
FILLERS = ("The weather stayed calm and mild.", "Nobody in town took any notice.", "Carts rolled over the bridge.")


def invented(texts: int = 1200) -> QuestionSet:
    """Half of the answers fill most of a short text; half stand in a long one, where a lure has the question's words.

    In long texts random spans miss (the measure), and so does the sentence of most words, always (finding words).
    """
    questions = []
    for number in range(texts):
        answer = f"in the cold summer of {1000 + number} with stones from Holt{number}"
        told = f"The tower was built {answer}."
        lure = "The angry baron claimed the tower was built by dukes."
        context = " ".join([told, *FILLERS * 2, lure, *FILLERS] if number % 2 else [told])
        questions.append(question(f"q{number}", context, "When did the angry baron claim the tower was built?", answer))
    return QuestionSet("invented", tuple(questions), (), {}, {"searched": 0, "moved": 0, "nowhere": 0})


class World:
    """A set with its texts and factors, and models whose losses are known."""

    def __init__(self, found: QuestionSet, language: Language) -> None:
        self.found, self.language = found, language
        self.texts: dict[str, ReadText] = {
            each: read_text(each, language) for each in dict.fromkeys(q.context for q in found.questions)
        }
        self.codes = free_factors(found.questions, language, self.texts).codes
        self.luck = np.random.default_rng(5).random(len(found.questions))

    def named(self, answers: list[str]) -> dict[str, str]:
        return dict(zip((each.id for each in self.found.questions), answers, strict=True))

    def spans(self) -> list[str]:
        return random_spans(self.found.questions, self.texts, self.language, np.random.default_rng(9))

    def sentence(self) -> dict[str, str]:
        return self.named(best_overlap_answers(self.found.questions, self.texts, self.language))

    def reader(self, factor: str, loss: float = 0.2) -> dict[str, str]:
        """Right, but for a tenth, and where the factor holds for `loss` more."""
        fails = self.luck < 0.1 + loss * (self.codes[factor] == 1)
        pairs = zip(self.found.questions, self.spans(), fails, strict=True)
        return self.named([span if failed else each.answers[0] for each, span, failed in pairs])

    def analyse(self, settings: DifficultySettings = FAST, **models: dict[str, str]) -> Difficulty:
        return difficulty(self.found, models, language=self.language.code, settings=settings, say=lambda _: None)


def source(found: Difficulty, model: str, factor: str) -> str | float | None:
    (row,) = (row for row in found.rows if (row["model"], row["factor"]) == (model, factor))
    return row["comes_from"]


@pytest.fixture(scope="module")
def made() -> World:
    return World(invented(), language_of("en"))


def test_random_spans_lose_by_the_measure(made: World):
    assert source(made.analyse(span=made.named(made.spans())), "span", "long_text") == "measure"
    narrow = FAST.model_copy(update={"margin": 0.02})
    assert source(made.analyse(narrow, span=made.named(made.spans())), "span", "long_text") == UNKNOWN


def test_each_verdict_is_given_where_it_is_true(made: World):
    half = {key: made.sentence()[key] if luck < 0.5 else text
            for (key, text), luck in zip(made.reader("long_text", 0.3).items(), made.luck, strict=True)}  # fmt: skip
    long = made.codes["long_text"] == 1
    silent = made.named(["" if far else each.answers[0] for each, far in zip(made.found.questions, long, strict=True)])
    found = made.analyse(reader=silent, sentence=made.sentence(), half=half)
    assert source(found, "reader", "long_text") == "reading"
    assert source(found, "sentence", "long_text") == "words"
    assert source(found, "half", "long_text") == UNKNOWN


def test_not_significant_is_not_the_same(made: World):
    """Few questions tell neither that a loss is the baseline's nor that it is more."""
    few = World(replace(made.found, questions=made.found.questions[:50]), made.language)
    found = few.analyse(reader=few.reader("long_text", 0.9))
    (row,) = (row for row in found.rows if row["factor"] == "long_text")
    assert row["holm_significant"]
    assert row["best_overlap_p_holm"] > 0.05
    assert row["comes_from"] == UNKNOWN


@pytest.mark.real
def test_each_verdict_on_real_french_texts(real: Callable):
    world = World(read_question_set(real("piaf") / "piaf-v1.0.json"), language_of("fr"))
    readers = {f"reader_{factor}": world.reader(factor) for factor in world.codes}
    found = world.analyse(sentence=world.sentence(), span=world.named(world.spans()), **readers)
    verdicts = {(row["model"], row["factor"]): row["comes_from"] for row in found.rows if row["comes_from"]}
    for factor in ("long_answer", "late_answer", "long_text"):
        assert verdicts[f"reader_{factor}", factor] == "reading"
    assert verdicts["sentence", "late_answer"] == "words"
    assert all(said in {"measure", UNKNOWN} for (_, factor), said in verdicts.items() if factor in MADE_OF_OVERLAP)
    assert not [said for (model, _), said in verdicts.items() if model in {"sentence", "span"} and said == "reading"]
    assert not [said for (model, _), said in verdicts.items() if model[:6] == "reader" and said in {"words", "measure"}]
