"""Figures about a French world: the shares of the factors (complexity.md §4), its frames, texts and splits."""

from collections import Counter
from collections.abc import Sequence
from math import log2
from statistics import fmean

from sample.french.french_world import FrenchWorld
from trivium.complexity.factors.members.f4 import arcs
from trivium.complexity.factors.overlap import shares_participant
from trivium.formats.framed_texts import AnnotatedText
from trivium.measures.agreement import cramers_v


def statistics(world: FrenchWorld) -> dict[str, float]:
    """Flat metrics.

    Returns:
        Counts; `f0_share` to `f6_share` over the evaluation questions, f0 by the frames that the adaptation texts
        hold; `element_by_f4` and `element_by_f5`, Cramér's V of the answer's element with the factor, with what chance
        alone would give taken off (`_corrected`, Bergsma 2013); the mean length of texts and questions in words, of
        answers in words; `vocabulary`, word forms of everything; `ambiguous_share` of the triggers whose lexical unit
        evokes several frames and `frame_baseline`, accuracy of its most frequent frame in training on the test texts;
        the overlap of the splits.
    """
    factors = factor_table(world)
    examples, test, train = world.examples, world.texts["test"], world.texts["train"]
    questions = [*(q.question for split in world.fquad.values() for q in split), *(e.question for e in examples)]
    texts = [*(text for split in world.texts.values() for text in split), *world.adaptation]
    words = [_words(text.text) for text in texts]
    frames = _frames_of(texts)
    of_frame = _units(texts)
    elements = [example.answer_element for example in examples]
    metrics: dict[str, float] = {
        **{f"fquad_{split}": len(made) for split, made in world.fquad.items()},
        **{f"texts_{split}": len(made) for split, made in world.texts.items()},
        "examples": len(examples),
        **{f"{name}_share": fmean(values) for name, values in factors.items()},
        "frames": len(frames),
        "lexical_units": sum(map(len, of_frame.values())),
        "most_lexical_units": max(map(len, of_frame.values())),
        "elements_mean": fmean(len(frame.elements) for text in test for frame in text.frames),
        "elements_max": max(len(frame.elements) for text in test for frame in text.frames),
        "text_words_mean": fmean(map(len, words)),
        "sentences_mean": fmean(len(world.syntax[text.id]) for text in test),
        "question_words_mean": fmean(len(_words(question)) for question in questions),
        "answer_words_mean": fmean(len(_words(example.answer_text)) for example in examples),
        "vocabulary": len({word for each in (*words, *map(_words, questions)) for word in each}),
        "questions_a_text": len(examples) / len(test),
        "shared_participant_share": fmean(map(shares_participant, examples)),
    }
    for name in ("f4", "f5"):
        metrics[f"element_by_{name}"] = cramers_v(elements, factors[name]) or 0.0
        metrics[f"element_by_{name}_corrected"] = cramers_v(elements, factors[name], corrected=True) or 0.0
    return {**metrics, **_ambiguity(train, test), **_overlap(world)}


def factor_table(world: FrenchWorld) -> dict[str, list[bool]]:
    """The factors f0 to f6 of every evaluation question, from the gold annotation."""
    examples = world.examples
    adaptation = _frames_of(world.adaptation)
    entropy = {frame: _entropy(units) for frame, units in _units(world.texts["train"]).items()}
    mean = fmean(entropy[example.frame.frame] for example in examples)
    lemmas = {
        key: {token.lemma for one in trees for token in one.tokens} for key, trees in world.question_syntax.items()
    }
    cut = _even_cut([adaptation[example.frame.frame] for example in examples])
    far = []
    for example in examples:
        element = next(each for each in example.frame.elements if each.name == example.answer_element)
        count = arcs(world.syntax[example.text.id], example.frame.lexical_unit.span, element.span).count
        far.append(count is not None and count >= 2)
    return {
        "f0": [adaptation[example.frame.frame] <= cut for example in examples],
        "f1": [bool(example.chain) for example in examples],
        "f2": [example.frame.lexical_unit.part_of_speech == "noun" for example in examples],
        "f3": [example.frame.lexical_unit.lemma not in lemmas[example.id] for example in examples],
        "f4": far,
        "f5": [len({each.name for each in example.frame.elements}) <= 2 for example in examples],
        "f6": [entropy[example.frame.frame] > mean for example in examples],
    }


def _even_cut(counts: Sequence[int]) -> int:
    """The count up to which a frame is rare, so that the examples split most evenly."""
    return min(sorted(set(counts)), key=lambda cut: abs(fmean(count <= cut for count in counts) - 0.5))


def _frames_of(texts: Sequence[AnnotatedText]) -> Counter[str]:
    return Counter(frame.frame for text in texts for frame in text.frames)


def _units(texts: Sequence[AnnotatedText]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for text in texts:
        for frame in text.frames:
            found.setdefault(frame.frame, Counter())[frame.lexical_unit.name] += 1
    return found


def _entropy(units: Counter[str]) -> float:
    return -sum(count / units.total() * log2(count / units.total()) for count in units.values())


def _ambiguity(train: Sequence[AnnotatedText], test: Sequence[AnnotatedText]) -> dict[str, float]:
    """How far the lexical unit alone gives the frame away."""
    seen: dict[str, Counter[str]] = {}
    for text in train:
        for frame in text.frames:
            seen.setdefault(frame.lexical_unit.name, Counter())[frame.frame] += 1
    known = [frame for text in test for frame in text.frames]
    guessed = [
        seen[frame.lexical_unit.name].most_common(1)[0][0] if frame.lexical_unit.name in seen else "" for frame in known
    ]
    return {
        "ambiguous_share": fmean(len(seen.get(frame.lexical_unit.name, ())) > 1 for frame in known),
        "frame_baseline": fmean(frame.frame == guess for frame, guess in zip(known, guessed, strict=True)),
    }


def _overlap(world: FrenchWorld) -> dict[str, float]:
    """What the evaluation shares with the adaptation corpus."""
    train = {question.context for question in world.fquad["train"]}
    asked = {(question.answers[0][0], question.question) for question in world.fquad["train"]}
    vocabulary = {word for question in world.fquad["train"] for word in _words(question.context)}
    test = [word for text in world.texts["test"] for word in _words(text.text)]
    return {
        "test_texts_in_train": float(sum(text.text in train for text in world.texts["test"])),
        "test_questions_in_train": float(sum((each.answer_text, each.question) in asked for each in world.examples)),
        "test_words_in_train_share": fmean(word in vocabulary for word in test),
    }


def _words(text: str) -> list[str]:
    return text.lower().replace("'", " ").replace(".", " ").replace(",", " ").replace("?", " ").split()
