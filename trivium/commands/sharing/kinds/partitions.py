"""The parts of the evaluation set by complexity, a configuration each, in SQuAD's flat columns."""

from json import dumps
from pathlib import Path

import pyarrow as pa

from trivium.commands.sharing.package import Artifact, Described, Kind
from trivium.core.tables import write_table
from trivium.formats.squad import read_squad
from trivium.nets.cards import CARD

_ANSWERS = pa.struct([("text", pa.list_(pa.string())), ("answer_start", pa.list_(pa.int32()))])
SCHEMA = pa.schema([*((name, pa.string()) for name in ("id", "title", "context", "question")), ("answers", _ANSWERS)])
_USAGE = """
from datasets import load_dataset

part = load_dataset({name}, {first}, split="test")
print(part[0]["question"], part[0]["answers"])
"""


class Partitions(Kind):
    """Questions that are harder and easier to read (complexity.md §6)."""

    name, kind, pattern = "partitions", "dataset", "data/complexity/partitions"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """Each part's own card says what it holds."""
        files: dict[str, Path | bytes] = {}
        told = []
        for folder in sorted(path for path in artifact.source.iterdir() if path.is_dir()):
            told.append(_told(folder / CARD))
            questions = read_squad(folder / "data.json").questions
            rows = [
                {"id": each.id, "title": each.title, "context": each.context, "question": each.question,
                 "answers": {"text": [text for text, _ in each.answers],
                             "answer_start": [start for _, start in each.answers]}}
                for each in questions
            ]  # fmt: skip
            name = f"{folder.name}/test.parquet"
            write_table(artifact.work / name, pa.Table.from_pylist(rows, SCHEMA))
            files[name] = artifact.work / name
        names = [name.split("/")[0] for name in files]
        return Described(
            title="Trivium's partitions by complexity",
            about="An evaluation set of French questions about texts, cut into parts by what makes them hard to read.",
            notes=tuple(told),
            usage=_USAGE.format(name=dumps(artifact.target.name), first=dumps(names[0])),
            files=files,
            start=None,
            library="datasets",
            task="question-answering",
            language="fr",
            front={
                "configs": [
                    {"config_name": name, "data_files": [{"split": "test", "path": f"{name}/*.parquet"}]}
                    for name in names
                ]
            },
        )


def _told(card: Path) -> str:
    """The card's text with lower headings, without its front matter and its machine-made list of formats."""
    text = card.read_text("utf-8").split("---\n", 2)[-1]
    lines = (line for line in text.splitlines() if not line.startswith(("- format:", "- cut from:")))
    return "\n".join(f"##{line}" if line.startswith("#") else line for line in lines).strip()
