"""The data set of questions about pictures that the construction has built again."""

from collections.abc import Iterator
from json import dumps
from pathlib import Path
from typing import Any

from trivium.commands.sharing.kinds.painted_queries import write_pictures
from trivium.commands.sharing.package import Artifact, Described, Kind
from trivium.core.image_shards import Images
from trivium.core.tables import read_json_lines
from trivium.formats.questions import SPLITS

_USAGE = """
from datasets import load_dataset

questions = load_dataset({name}, split="test")
print(questions[0]["question"], questions[0]["answers"], questions[0]["image"].size)
"""
_NAMES = ("id", "question", "original_question", "answer", "wikidata_id", "kilt_id", "image_name", "commons_name")


class RebuiltQuestions(Kind):
    """In ViQuAE's manner (kvqae-construction.md)."""

    name, kind, pattern = "rebuilt_questions", "dataset", "data/kvqae/rebuilt"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """Every question with its picture."""
        images = Images(artifact.source / "images" / "questions")
        files: dict[str, Path | bytes] = {}
        for split in SPLITS:
            rows = _rows(artifact.source / "viquae" / f"{split}.jsonl", images)
            file = write_pictures(
                artifact.work / f"{split}.parquet", rows, dict.fromkeys(_NAMES, "string"), ["answers"]
            )
            files[f"data/{split}-00000-of-00001.parquet"] = file
        return Described(
            title="Questions about pictures, built again",
            about="Questions about a picture of an entity whose answer takes knowledge, built from questions about "
            "texts as ViQuAE was (Lerner et al., SIGIR 2022).",
            notes=(
                "Each photograph has its own licence and author; Wikimedia Commons has both under `commons_name`.",
            ),
            usage=_USAGE.format(name=dumps(artifact.target.name)),
            files=files,
            start=None,
            library="datasets",
            task="visual-question-answering",
            language="en",
            measures="",
            front={"configs": [{"config_name": "default", "data_files": [
                {"split": split, "path": f"data/{split}-*"} for split in SPLITS]}]},
        )  # fmt: skip


def _rows(file: Path, images: Images) -> Iterator[dict[str, Any]]:
    for _, line in read_json_lines(file):
        yield {
            "image": {"bytes": images.read(line["image"]), "path": None},
            "id": line["id"],
            "question": line["input"],
            "original_question": line["original_question"],
            "answer": line["output"]["original_answer"],
            "answers": line["output"]["answer"],
            "wikidata_id": line["wikidata_id"],
            "kilt_id": line["kilt_id"],
            "image_name": line["image"],
            "commons_name": line["meta"]["image"],
        }
