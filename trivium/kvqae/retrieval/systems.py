"""First-stage systems beyond the paper: searches by entities' names, and runs that somebody brings (kvqae.md §3).

A brought run is one TREC file a system, of the questions of any splits.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.tables import read_table
from trivium.formats.questions import SPLITS, read_questions
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.retrieval.text_encoders import SECTION as TEXT_SECTION
from trivium.kvqae.retrieval.text_encoders import TextEncoders
from trivium.measures.reorder import first
from trivium.measures.runs import PADDING, Run
from trivium.vision.encoder_registry import SECTION as IMAGE_SECTION
from trivium.vision.encoder_registry import ImageEncoders

NAMES = "kvqae.name_encoders"  # of params.yaml: image encoders whose text tower reads names
_SUFFIX = "_names"

NameEncoders = Annotated[
    dict[str, dict[str, Any]],
    Field(default_factory=dict, description="Image encoders whose text tower reads entities' names"),
]


class SystemsInUse(Parameters):
    """What sections share that ask which encoders are in use, and in which order."""

    elsewhere: ClassVar[Mapping[str, str]] = {
        "text_encoders": TEXT_SECTION,
        "image_encoders": IMAGE_SECTION,
        "name_encoders": NAMES,
    }
    text_encoders: TextEncoders
    image_encoders: ImageEncoders
    name_encoders: NameEncoders


def system_of(encoder: str) -> str:
    """The name of an encoder's search by names: of its runs and rows, and of its weight in a fusion."""
    return f"{encoder}{_SUFFIX}"


PREFIX = "brought_"  # of a system's name: in tables, metrics and weights it cannot be one of the graph's
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_ENDING = ".trec"


def is_brought(system: str) -> bool:
    """Whether a system's name is one of a brought run."""
    return system.startswith(PREFIX)


def brought_files(folder: Path) -> dict[str, Path]:
    """{name of the system: its file}, in the order of the names; `brought/kvqae/runs` holds a README and folders, too.

    Raises:
        BadInput: another file, or a name that would not do as one of a metric.
    """
    found = {}
    for path in sorted(each for each in folder.iterdir() if each.is_file() and each.name != "README.md"):
        if path.suffix != _ENDING or not _NAME.fullmatch(path.stem):
            expected = f"NAME{_ENDING}; a name has letters, digits, _ and -"
            raise BadInput("not the name of a run", file=path, got=path.name, expected=expected)
        found[f"{PREFIX}{path.stem}"] = path
    return found


def by_split(path: Path, name: str, split_of: Mapping[str, str], passages: int, depth: int) -> dict[str, Run]:
    """{split: the run of its questions}, of the splits that a brought TREC file has questions of.

    Documents are numbers of passages, of which there are `passages`; `depth` are kept a question.

    Raises:
        BadInput: as `read_run`, or a question or passage that is not known.
    """
    run = read_run(path, name)
    if unknown := sorted(set(run.queries) - split_of.keys()):
        raise BadInput(f"{len(unknown)} unknown questions", file=path, field="query", got=unknown[0],
                       expected="an id of the training, validation or test questions")  # fmt: skip
    if (last := int(run.documents.max())) >= passages:
        raise BadInput("no such passage", file=path, field="document", got=last, expected=f"below {passages}")
    kept = first(run, depth)
    asked: dict[str, list[str]] = {}
    for query in kept.queries:
        asked.setdefault(split_of[query], []).append(query)
    return {split: kept.select(queries) for split, queries in asked.items()}


def write_brought_runs(
    *,
    brought: Path,
    questions: Path,
    passages: Path,
    depth: int,
    out: Path,
) -> dict[str, float]:
    """Write `{system}/{split}.trec` for each file of `brought` and each split that it has questions of."""
    split_of = {each.id: split for split in SPLITS for each in read_questions(questions / f"{split}.jsonl")}
    known = read_table(passages, ["article"]).num_rows
    metrics: dict[str, float] = {"runs": 0}
    with write_atomically(out) as beside:
        beside.mkdir()
        for name, path in brought_files(brought).items():
            metrics["runs"] += 1
            for split, run in by_split(path, name, split_of, known, depth).items():
                write_run(beside / name / f"{split}.trec", run)
                metrics[f"{name}_{split}_questions"] = len(run.queries)
                metrics[f"{name}_{split}_passages"] = int((run.documents != PADDING).sum())
    return metrics
