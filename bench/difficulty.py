"""Seconds and memory of `trivium difficulty` on one core, and its scores raced: `python -m bench.difficulty`.

The questions are invented: words by Zipf's law between English ones, five questions a text, ten texts an article. A
model answers as the reference, beside it, or anything; files are in the forms in which people have them.

Raced are exact match, F1 and ROUGE-L of all answers to the small set. The popular way is the functions of SQuAD's
script and Google's `rouge_score`, answer by answer. An expert cuts each distinct text into words once, and scores each
distinct answer to a question once. What else the command does, the effects, is raced in `bench.effects` and
`bench.clustered_difference`. The limit, to read every answer once, is far away whoever scores them: words are found and
compared one by one, at which neither bandwidth nor products of matrices count.
"""

import json
import os
import re
import string
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rouge_score.rouge_scorer import RougeScorer

from bench import harness
from trivium.complexity.difficulty.scores import Scorer
from trivium.core.tables import write_json, write_json_lines
from trivium.formats.answer_files import read_answers
from trivium.formats.question_sets import AskedQuestion, read_question_set
from trivium.language.reading.languages import language_of

SIZES = {"small": (3188, 3), "large": (100_000, 10)}  # questions, models
WORDS, VOCABULARY, ASKED, TEXTS = 120, 60_000, 5, 10
CLOSE = 1e-12
WHY = "each measure goes over the answers on its own, in the words of whichever language, in Unicode"
COMMON = ("the", "of", "and", "in", "to", "a", "was", "is", "for", "as", "on", "with", "by", "he", "that", "at")
SYLLABLES = ("ba", "con", "der", "el", "fi", "gra", "hu", "lo", "mer", "nal", "pro", "ri", "sta", "tion", "vi", "zed")


def vocabulary(rng: np.random.Generator) -> list[str]:
    """Invented words, the commonest first."""
    lengths = rng.integers(2, 5, size=2 * VOCABULARY)
    drawn = ("".join(rng.choice(SYLLABLES, size=length)) for length in lengths)
    return list(dict.fromkeys(drawn))[:VOCABULARY]


def make(folder: Path, questions: int, models: int, seed: int = 0) -> tuple[Path, list[Path]]:
    """Write a set in SQuAD's tree, and a file of answers a model, {id: answer} and lines in turn."""
    rng = np.random.default_rng(seed)
    known = vocabulary(rng)
    articles: list[dict[str, Any]] = []
    answers: list[tuple[str, str, list[str], int, int]] = []
    for number in range(-(-questions // ASKED)):
        size = int(rng.integers(WORDS // 2, 3 * WORDS // 2))
        kinds = np.minimum(rng.zipf(1.3, size=size) - 1, len(known) - 1)
        words = [COMMON[kind % len(COMMON)] if kind % 3 == 0 else known[kind] for kind in kinds.tolist()]
        for end in range(14, size - 1, 15):
            words[end] += "."
            words[end + 1] = words[end + 1].capitalize()
        context, starts = " ".join(words), np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
        asked = []
        for _ in range(min(ASKED, questions - len(answers))):
            first, length = int(rng.integers(size - 8)), int(rng.integers(1, 7))
            text = context[starts[first] : starts[first + length] - 1]
            near = " ".join(words[max(0, first - 6) : first : 2])
            identifier = f"q{len(answers)}"
            answers.append((identifier, text, words, first, length))
            asked.append({"id": identifier, "question": f"What is {near}?",
                          "answers": [{"text": text, "answer_start": starts[first]}]})  # fmt: skip
        if number % TEXTS == 0:
            articles.append({"title": f"Article {number // TEXTS}", "paragraphs": []})
        articles[-1]["paragraphs"].append({"context": context, "qas": asked})
    write_json(folder / "questions.json", {"version": "1.1", "data": articles})
    files = []
    for model in range(models):
        given, luck = {}, rng.random((len(answers), 2))
        for (identifier, text, words, first, length), (right, near) in zip(answers, luck.tolist(), strict=True):
            place = first if near < 0.7 else int(near * 1e6) % (len(words) - 8)
            given[identifier] = text if right < 0.3 + 0.04 * model else " ".join(words[place : place + length + 2])
        files.append(folder / (f"model{model}.jsonl" if model % 2 else f"model{model}.json"))
        if model % 2:
            write_json_lines(files[-1], ({"id": each, "prediction_text": text} for each, text in given.items()))
        else:
            write_json(files[-1], given)
    return folder / "questions.json", files


def run(questions: Path, answers: list[Path], out: Path) -> dict[str, float]:
    """Seconds by the clock and of the processor, and peak MiB, of the command in a process on one core."""
    command = ["difficulty", "--questions", questions, "--answers", *answers, "--out", out]
    code = (
        "import os, sys, time\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from trivium.commands.cli import main\n"
        "main(sys.argv[1:])\n"
        "from bench.harness import peak_mib\n"
        "print(time.process_time(), peak_mib())\n"
    )
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, command)],
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - started
    processor, peak = map(float, done.stdout.split()[-2:])
    return {"seconds": seconds, "processor_seconds": processor, "peak_mib": peak}


def squad_words(text: str) -> list[str]:
    """Normalised as SQuAD's script does it; an answer of articles alone keeps its words, as ours does."""
    bare = "".join(character for character in text.lower() if character not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split() or bare.split()


def by_scripts(asked: Sequence[AskedQuestion], answers: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Exact match, F1 and ROUGE-L, (models, questions, 3), by the popular functions; the sets have one reference."""
    scorer = RougeScorer(["rougeL"])

    def scores(question: AskedQuestion, answer: str) -> tuple[float, float, float]:
        (reference,) = question.answers
        given, expected = squad_words(answer), squad_words(reference)
        common = (Counter(given) & Counter(expected)).total()
        f1 = 2 * common / (len(given) + len(expected)) if common else 0.0
        return float(given == expected), f1, scorer.score(reference, answer)["rougeL"].fmeasure

    return np.array([list(map(scores, asked, texts)) for texts in answers])


def by_words(asked: Sequence[AskedQuestion], answers: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """The same as an expert would write it."""
    all_words, words = cache(lambda text: re.findall("[a-z0-9]+", text.lower())), cache(squad_words)

    @cache
    def scores(reference: str, answer: str) -> tuple[float, float, float]:
        given, expected, pair = words(answer), words(reference), (all_words(answer), all_words(reference))
        common = (Counter(given) & Counter(expected)).total()
        sizes = len(given) + len(expected), sum(map(len, pair))
        return float(given == expected), 2 * common / sizes[0], 2 * LCSseq.similarity(*pair) / sizes[1]

    references = [each.answers[0] for each in asked]
    return np.array([list(map(scores, references, texts)) for texts in answers])


def by_us(asked: Sequence[AskedQuestion], answers: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """The same by `Scorer`, which remembers no words at first."""
    scorer = Scorer(asked, language_of("en"))
    return np.stack(
        [[score(texts) for score in (scorer.exact_match, scorer.f1, scorer.rouge_l)] for texts in answers]
    ).transpose(0, 2, 1)


def raced(file: Path, answer_files: Sequence[Path]) -> dict[str, Any]:
    """The race, after all have given the same scores."""
    found = read_question_set(file)
    given = [read_answers(path, found.ids).answers for path in answer_files]
    world = found.questions, [[answers[each.id] for each in found.questions] for answers in given]
    for peer in (by_scripts, by_words):
        np.testing.assert_allclose(peer(*world), by_us(*world), rtol=0, atol=CLOSE)
    return harness.race(
        lambda: by_us(*world),
        harness.Peer("rouge_score and SQuAD's script", lambda: by_scripts(*world)),
        harness.Peer("rapidfuzz, texts cut once", lambda: by_words(*world)),
        gigabytes=1e-9 * sum(len(text) for texts in world[1] for text in texts),
        why=WHY,
    )


def main() -> None:
    """Race on the small set, and run the command on both sizes, one after the other."""
    found: dict[str, Any] = {}
    for name, (questions, models) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            file, answers = make(Path(folder), questions, models)
            if name == "small":
                found["races"] = {f"{questions * models} answers": raced(file, answers)}
            figures = run(file, answers, Path(folder) / "out")
            effects = json.loads((Path(folder) / "out" / "difficulty.json").read_text("utf-8"))["effects"]
        figures |= {"questions": questions, "models": models, "effects": len(effects)}
        figures["answers_a_second"] = questions * models / figures["processor_seconds"]
        found |= {f"{name}_{key}": value for key, value in figures.items()}
    harness.write(
        "difficulty", found | {"versions": harness.versions("rapidfuzz", "rouge-score", "scipy", "statsmodels")}
    )


if __name__ == "__main__":
    main()
