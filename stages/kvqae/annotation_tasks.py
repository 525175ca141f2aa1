"""Stage `kvqae-annotation_tasks`. Make a Label Studio project of the generated questions."""

from collections import Counter
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters
from trivium.core.stage import stage
from trivium.core.tables import write_json
from trivium.kvqae.annotation import project
from trivium.kvqae.construction.commons import commons_file_name
from trivium.kvqae.construction.generation import read_generated
from trivium.vision.decoding import FLAWS


class AnnotationTasksParameters(Parameters):
    """Section `kvqae.annotation_tasks`."""

    questions: int = Field(ge=1, description="Most questions that are given to annotators")
    largest_share: float = Field(ge=0.5, le=1, description="Of questions about persons, and of those about others")
    annotators: int = Field(ge=1, le=99, description="People who share the work")
    overlap_questions: int = Field(ge=0, description="Questions given to several annotators, to measure agreement")
    overlap_annotators: int = Field(ge=2, description="How many annotators each of them is given to")
    image_side: int = Field(default=160, ge=32, le=1024, description="Longer side of the tasks' pictures, in pixels")
    image_address: str | None = Field(
        pattern=r"""^[^"'\\()<> ]*\{name\}[^"'\\()<> ]*$""",
        description="Where browsers find candidates, such as https://example.org/{name}; null: they are in the tasks",
    )
    seed: int = Field(default=0, ge=0, description="Of the sample of questions, their order and who gets which")

    @model_validator(mode="after")
    def _enough_annotators(self) -> Self:
        if self.overlap_questions and self.overlap_annotators > self.annotators:
            raise ValueError(f"overlap_annotators is above annotators ({self.annotators})")
        return self


@stage("kvqae.annotation_tasks", metrics="metrics/kvqae/annotation_tasks.json")
def main(
    parameters: AnnotationTasksParameters,
    *,
    generated: Path = Path("data/kvqae/construction/generated.jsonl"),
    images: Path = Path("data/kvqae/sources/images"),
    references: Path = Path("data/kvqae/raw/images/kb"),
    out: Path = Path("data/kvqae/annotation"),
) -> dict[str, float]:
    """Write `config.xml`, `tasks.json` (to import) and `instructions.md`; images are read from shards."""
    rng = np.random.default_rng(parameters.seed)
    questions = list(read_generated(generated).values())
    chosen = project.balanced_sample(questions, parameters.questions, parameters.largest_share, rng)
    if not chosen:
        problem = "the questions are all about persons, or all about other things: no share of them is balanced"
        expected = "both, or kvqae.annotation_tasks.largest_share 1"
        raise BadInput(problem, file=generated, field="human", expected=expected)
    overlapping = min(parameters.overlap_questions, len(chosen))
    codes = project.share_out(len(chosen), overlapping, parameters.overlap_annotators, parameters.annotators)
    counts: Counter[str] = Counter()
    base = Images(references)
    pictures, reference_pictures = (
        project.embedder(shards, parameters.image_side, counts) for shards in (Images(images), base)
    )
    address = parameters.image_address

    def candidate(name: str) -> str:
        return pictures(name) if address is None else project.address_of(name, address)

    def reference(name: str) -> str:
        """Show the knowledge base's own picture, since the one on Commons may have changed."""
        shown = reference_pictures(name) if name in base else project.NO_PICTURE
        counts["references_not_at_hand"] += name not in base
        return (
            project.address_of(commons_file_name(name), address) if address and shown == project.NO_PICTURE else shown
        )

    tasks = [
        project.annotation_task(question, annotators, candidate, reference(question.reference))
        for question, annotators in zip(chosen, codes, strict=True)
    ]
    with write_folder(out) as target:
        write_json(target / "tasks.json", [tasks[place] for place in rng.permutation(len(tasks))])
        for name in ("config.xml", "instructions.md"):
            (target / name).write_text((project.TEMPLATES / f"annotation_{name}").read_text("utf-8"), "utf-8")
    return {
        "generated": float(len(questions)),
        "tasks": float(len(tasks)),
        "tasks_left_out": float(len(questions) - len(tasks)),
        "overlapping": float(overlapping),
        "annotations_wanted": float(sum(map(len, codes))),
        "persons_share": sum(question.human for question in chosen) / len(chosen),
        "images_unreadable": float(counts["unreadable"]),
        **{f"images_{flaw}": float(counts[flaw]) for flaw in FLAWS},
        "references_not_at_hand": float(counts["references_not_at_hand"]),
    }
