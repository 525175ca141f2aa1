"""Seconds and memory of `trivium difficulty` on one core: `python -m bench.difficulty`.

The questions are invented: words by Zipf's law between English ones, five questions a text, ten texts an article. A
model answers as the reference, beside it, or anything; files are in the forms in which people have them.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench import harness
from trivium.files.tables import write_json, write_json_lines

SIZES = {"small": (3188, 3), "large": (100_000, 10)}  # questions, models
WORDS, VOCABULARY, ASKED, TEXTS = 120, 60_000, 5, 10
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


def main() -> None:
    """Both sizes, one after the other."""
    found: dict[str, Any] = {}
    for name, (questions, models) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            file, answers = make(Path(folder), questions, models)
            figures = run(file, answers, Path(folder) / "out")
            effects = json.loads((Path(folder) / "out" / "difficulty.json").read_text("utf-8"))["effects"]
        figures |= {"questions": questions, "models": models, "effects": len(effects)}
        figures["answers_a_second"] = questions * models / figures["processor_seconds"]
        found |= {f"{name}_{key}": value for key, value in figures.items()}
    harness.write("difficulty", found | {"versions": harness.versions("rapidfuzz", "scipy", "statsmodels")})


if __name__ == "__main__":
    main()
