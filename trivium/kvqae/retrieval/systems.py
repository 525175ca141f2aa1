"""First-stage systems beyond the paper: searches by entities' names, and runs that a user brings (kvqae.md §3).

A brought run is a TREC file with questions of any splits.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import model_validator

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, shared
from trivium.formats.questions import SPLITS, read_questions
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.knowledge_base.passage_texts import Ids, numbers_of_rows
from trivium.kvqae.retrieval.text_encoders import SECTION as TEXT_SECTION
from trivium.kvqae.retrieval.text_encoders import TextEncoders
from trivium.measures.runs import PADDING, Run
from trivium.vision.encoder_registry import SECTION as IMAGE_SECTION
from trivium.vision.encoder_registry import ImageEncoders

NAMES = "kvqae.name_encoders"  # of params.yaml: image encoders whose text tower reads names


class SystemsInUse(Parameters):
    """Encoders in use, in their order; part of several sections."""

    text_encoders: TextEncoders = shared(TEXT_SECTION)
    image_encoders: ImageEncoders = shared(IMAGE_SECTION)
    name_encoders: dict[str, dict[str, Any]] = shared(NAMES, {}, description="Whose text tower reads entities' names")

    @model_validator(mode="after")
    def _different_names(self) -> Self:
        if twice := self.text_encoders.keys() & self.image_encoders.keys():
            raise ValueError(f"text and image encoders need different names: {min(twice)}")
        return self


def system_of(encoder: str) -> str:
    """Name an encoder's search by names, as its runs, rows and weights are named."""
    return f"{encoder}_names"


PREFIX = "brought_"  # of the names of brought runs, so that they differ from the graph's systems
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.trec")
UNKNOWN = 0.01  # share of a brought run's passages that may be of no article here


def is_brought(system: str) -> bool:
    """Whether a system is a brought run, by its name."""
    return system.startswith(PREFIX)


def split_run(path: Path, name: str, split_of: Mapping[str, str], numbers: Ids, depth: int) -> dict[str, Run]:
    """Read a brought TREC file as {split: the run of its questions}, with the best `depth` passages of each.

    Documents are rows of brought passages, or of ours; `numbers` has our passage of each, -1 where there is none.
    `BadInput`: an unknown question or passage, or more than `UNKNOWN` of the passages have no article here.
    """
    run = read_run(path, name)
    if unknown := sorted(set(run.queries) - split_of.keys()):
        raise BadInput(f"{len(unknown)} unknown questions", file=path, field="query", got=unknown[0],
                       expected="an id of the training, validation or test questions")  # fmt: skip
    if (last := int(run.documents.max())) >= len(numbers):
        raise BadInput("no such passage", file=path, field="document", got=last, expected=f"below {len(numbers)}")
    ranked = run.documents != PADDING
    documents = np.where(ranked, numbers[run.documents], PADDING)
    if lost := int((documents < 0).sum() - (~ranked).sum()):
        if lost > UNKNOWN * ranked.sum():
            raise BadInput("passages without an article here", file=path, field="document",
                           got=f"{lost} of {ranked.sum()}", expected=f"at most {UNKNOWN:.0%}")  # fmt: skip
        print(f"{path}: {lost} of {ranked.sum()} passages have no article here and are dropped", file=sys.stderr)
    order = np.argsort(documents < 0, axis=1, kind="stable")  # close the gaps of dropped passages
    documents = np.take_along_axis(documents, order, axis=1)
    scores = np.where(documents < 0, np.nan, np.take_along_axis(run.scores, order, axis=1))
    kept = Run(run.queries, documents, scores, run.name).first(depth)
    queries: dict[str, list[str]] = {}
    for query in kept.queries:
        queries.setdefault(split_of[query], []).append(query)
    return {split: kept.select(names) for split, names in queries.items()}


def write_brought_runs(*, brought: Path, questions: Path, kb: Path, depth: int, out: Path) -> dict[str, float]:
    """Write `{system}/{split}.trec` for each file of `brought`, by name, and each split of its questions.

    README.md and folders are ignored. `BadInput`: another file, or a name that cannot be part of a metric's name.
    """
    split_of = {question.id: split for split in SPLITS for question in read_questions(questions / f"{split}.jsonl")}
    numbers = numbers_of_rows(kb)
    files = sorted(path for path in brought.iterdir() if path.is_file() and path.name != "README.md")
    if wrong := [path for path in files if not _FILE.fullmatch(path.name)]:
        expected = "NAME.trec; a name has letters, digits, _ and -"
        raise BadInput("not the name of a run", file=wrong[0], got=wrong[0].name, expected=expected)
    metrics: dict[str, float] = {"runs": len(files)}
    with write_folder(out) as folder:
        for name, path in ((f"{PREFIX}{path.stem}", path) for path in files):
            for split, run in split_run(path, name, split_of, numbers, depth).items():
                write_run(folder / name / f"{split}.trec", run)
                metrics[f"{name}_{split}_questions"] = len(run.queries)
                metrics[f"{name}_{split}_passages"] = int((run.documents != PADDING).sum())
    return metrics
