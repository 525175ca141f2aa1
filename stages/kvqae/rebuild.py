"""Stage `kvqae-rebuild`. Make a data set of what annotators kept, with splits that share no image, and measure it."""

from collections.abc import Container
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.core.stage import stage
from trivium.core.tables import read_json, write_json_lines
from trivium.formats.questions import SPLITS, read_questions
from trivium.formats.wikidata import read_entities
from trivium.kvqae.annotation.project import EXPECTED, EXPORT, agreement, edit_statistics, read_annotations
from trivium.kvqae.construction import rebuilding
from trivium.kvqae.construction.generation import read_generated


@stage("kvqae.rebuild", metrics="metrics/kvqae/rebuild.json")
def main(
    parameters: rebuilding.RebuildParameters,
    *,
    generated: Path = Path("data/kvqae/construction/generated.jsonl"),
    annotations: Path = Path("data/kvqae/annotation_export"),
    images: Path = Path("data/kvqae/sources/images"),
    released: Path = Path("data/kvqae/raw"),
    out: Path = Path("data/kvqae/rebuilt"),
) -> dict[str, float]:
    """Write `viquae/`, `triviaqa/` and `images/questions/`, with the layout of the released data in `released`.

    Metrics are counts, agreement and edits (`{name}_expected`: what simulated annotators should give), the data set's
    statistics, and those of the released one (`released_{name}`).
    """
    questions = read_generated(generated)
    annotated, counts = read_annotations(annotations / EXPORT, questions)
    metrics = {name: float(count) for name, count in counts.items()}
    settled, kept_counts = rebuilding.keep(annotated, questions)
    kept = [rebuilding.Kept(questions[name], made.text or "", made.image or "") for name, made in settled.items()]
    parts = rebuilding.split_up(kept, parameters)
    for split, part in parts.items():
        if not part:
            problem = f"too few questions are kept for three splits: {split} is empty"
            raise BadInput(problem, file=annotations / EXPORT, got=len(kept))
    metrics |= kept_counts | agreement(annotated, questions, parameters.agreement_annotators)
    metrics |= edit_statistics(settled, questions)
    if (annotations / EXPECTED).exists():
        metrics |= {f"{name}_expected": value for name, value in read_json(annotations / EXPECTED).items()}
    names = rebuilding.image_names(kept)
    with write_atomically(out) as target:
        for split, part in parts.items():
            records = (rebuilding.viquae_record(question, names[question.image]) for question in part)
            write_json_lines(target / "viquae" / f"{split}.jsonl", records)
            if split != "train":
                write_json_lines(target / "triviaqa" / f"{split}.jsonl", rebuilding.list_sources(part))
        remaining = rebuilding.remaining_triviaqa(released / "triviaqa", kept, metrics)
        metrics["triviaqa_train"] = float(write_json_lines(target / "triviaqa" / "train.jsonl", remaining))
        shards = Images(images)
        write_images(target / "images" / "questions", ((new, shards.read(name)) for name, new in names.items()))
        persons = {question.wikidata_id for question in questions.values() if question.human}
        metrics |= _statistics(target / "viquae", persons)
    persons = {entity.id for entity in read_entities(released / "wikidata.jsonl") if entity.human}
    described = _statistics(released / "viquae", persons)
    return metrics | {f"released_{name}": value for name, value in described.items()}


def _statistics(folder: Path, persons: Container[str]) -> dict[str, float]:
    splits = {split: read_questions(folder / f"{split}.jsonl") for split in SPLITS}
    return rebuilding.dataset_statistics(splits, persons)
