"""The rebuilt data set: what annotators kept, split at random without a shared image, in ViQuAE's format (§2)."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import Field

from stages.atomic import write_atomically
from stages.image_shards import Images, write_images
from stages.kvqae.annotation.agreement import agreement, edit_statistics, settle
from stages.kvqae.annotation.export import EXPECTED, EXPORT, Annotation, read_annotations
from stages.kvqae.annotation.generated_questions import GeneratedQuestion, read_generated
from stages.kvqae.construction.dataset_statistics import dataset_statistics
from stages.kvqae.construction.rebuilt_records import (
    Kept,
    behind,
    by_split,
    gives_the_answer,
    image_names,
    names_entity,
    remaining_triviaqa,
    viquae_record,
)
from stages.kvqae.construction.splits import disjoint_splits
from stages.kvqae.questions import SPLITS, read_questions
from stages.kvqae.wikidata import parse_entity
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import read_json, read_json_lines, write_json_lines


class Shares(Parameters):
    """Questions a split; only the proportions matter."""

    train: float = Field(gt=0, description="Training questions")
    validation: float = Field(gt=0, description="Validation questions")
    test: float = Field(gt=0, description="Test questions")


class RebuildParameters(Parameters):
    """Section `kvqae.rebuild`."""

    agreement_annotators: int = Field(ge=2, description="Agreement is measured on questions of at least so many")
    shares: Shares = Field(description="How the questions are split")
    seed: int = Field(ge=0, description="Of the split")


def keep(
    annotations: Mapping[str, list[Annotation]], questions: Mapping[str, GeneratedQuestion]
) -> tuple[dict[str, Annotation], dict[str, float]]:
    """The annotation that counts of each question that is kept, in the order of the generated questions.

    Returns:
        Annotations by question, and counts: annotated; of these discarded, and kept by annotators who wrote the
        entity's name or else the answer (left out); kept.
    """
    kept: dict[str, Annotation] = {}
    counts = {"annotated": float(len(annotations)), "discarded": 0.0}
    counts |= {"dropped_naming_the_entity": 0.0, "dropped_giving_the_answer": 0.0}
    for identifier, question in questions.items():
        settled = settle(annotations.get(identifier, ()))
        if settled is None:
            counts["discarded"] += identifier in annotations
        elif names_entity(_kept(question, settled)):
            counts["dropped_naming_the_entity"] += 1
        elif gives_the_answer(_kept(question, settled)):
            counts["dropped_giving_the_answer"] += 1
        else:
            kept[identifier] = settled
    counts["kept"] = float(len(kept))
    counts["discarded_share"] = counts["discarded"] / max(1.0, counts["annotated"])
    return kept, counts


def _kept(question: GeneratedQuestion, annotation: Annotation) -> Kept:
    return Kept(question, annotation.text or "", annotation.image or "")


def split_up(kept: list[Kept], parameters: RebuildParameters) -> Mapping[str, list[Kept]]:
    """Questions by split; those that share an image, or were made from one TriviaQA question, stay together."""
    keys = [{("image", each.image), ("source", each.generated.source)} for each in kept]
    return by_split(kept, disjoint_splits(keys, parameters.shares.model_dump(), parameters.seed))


def main(
    parameters: RebuildParameters,
    context: Context,
    *,
    generated: Path,
    annotations: Path,
    images: Path,
    released: Path,
    out: Path,
) -> dict[str, float]:
    """Write `viquae/`, `triviaqa/` and `images/questions/`, laid out as the released data.

    Args:
        parameters: section `kvqae.rebuild`.
        context: of the harness.
        generated: the generated questions.
        annotations: folder of the annotators' export.
        images: shards of the candidates.
        released: raw data: TriviaQA's other questions; ViQuAE's and the entities, to describe that set beside ours.
        out: folder of the rebuilt data set.

    Returns:
        Counts, agreement and edits ({name}_expected beside what simulated annotators make known), the data set's
        statistics, and those of the released one (released_{name}).
    """
    questions = read_generated(generated)
    annotated, counts = read_annotations(annotations / EXPORT, questions)
    metrics = {name: float(count) for name, count in counts.items()}
    settled, kept_counts = keep(annotated, questions)
    kept = [_kept(questions[identifier], each) for identifier, each in settled.items()]
    parts = split_up(kept, parameters)
    for split, part in parts.items():
        if not part:
            problem = f"too few questions are kept for three splits: {split} is empty"
            raise BadInput(problem, file=annotations / EXPORT, got=len(kept))
    metrics |= kept_counts | agreement(annotated, questions, parameters.agreement_annotators)
    metrics |= edit_statistics(settled, questions)
    if (annotations / EXPECTED).exists():
        metrics |= {f"{name}_expected": value for name, value in read_json(annotations / EXPECTED).items()}
    names = image_names(kept)
    with write_atomically(out) as beside:
        for split, part in parts.items():
            records = (viquae_record(question, names[question.image]) for question in part)
            write_json_lines(beside / "viquae" / f"{split}.jsonl", records)
            if split != "train":
                write_json_lines(beside / "triviaqa" / f"{split}.jsonl", behind(part))
        remaining = remaining_triviaqa(released / "triviaqa", kept, metrics)
        metrics["triviaqa_train"] = float(write_json_lines(beside / "triviaqa" / "train.jsonl", remaining))
        write_images(beside / "images" / "questions", _renamed(Images(images), names))
        persons = {question.wikidata_id for question in questions.values() if question.human}
        metrics |= _statistics(beside / "viquae", persons)
    described = _statistics(released / "viquae", _persons(released / "wikidata.jsonl"))
    return metrics | {f"released_{name}": value for name, value in described.items()}


def _renamed(images: Images, names: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    for name, new in names.items():
        yield new, images.read(name)


def _statistics(folder: Path, persons: Iterable[str]) -> dict[str, float]:
    return dataset_statistics({split: read_questions(folder / f"{split}.jsonl") for split in SPLITS}, set(persons))


def _persons(wikidata: Path) -> Iterator[str]:
    for row, record in read_json_lines(wikidata):
        entity = parse_entity(record, file=wikidata, row=row)
        if entity.human:
            yield entity.id


if __name__ == "__main__":
    run_stage(main, "kvqae.rebuild", RebuildParameters)
