"""D′: training pictures from which an object was painted out, with captions that no longer name it."""

from json import dumps
from pathlib import PurePosixPath

from trivium.commands.sharing.kinds.painted_queries import write_pictures
from trivium.commands.sharing.package import Artifact, Described, Kind
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.tables import read_table

_USAGE = """
from datasets import load_dataset

pairs = load_dataset({name}, split="train")
print(pairs[0]["image"].size, pairs[0]["text"])
"""


class DecorrelatedPairs(Kind):
    """One filling and one way of captions (decorrelation.md §2)."""

    name, kind, pattern = "decorrelated_pairs", "dataset", "data/decorrelation/pairs/*/*.parquet"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """A row a pair; a picture with several captions comes several times."""
        dataset = PurePosixPath(artifact.path).parts[3]
        filling, _, captions = PurePosixPath(artifact.path).stem.rpartition("_")
        pairs = read_table(artifact.source, ["removal", "picture", "caption", "text"])
        if not len(pairs):
            raise BadInput("no pair: this is D alone", file=artifact.source)
        images = Images(artifact.project / "data/decorrelation/painted" / dataset / filling / "train")
        rows = (
            {"image": {"bytes": images.read(row["removal"]), "path": None}, **row}
            for batch in pairs.to_batches(256) for row in batch.to_pylist()
        )  # fmt: skip
        file = write_pictures(
            artifact.work / "train.parquet",
            rows,
            {"removal": "string", "picture": "int64", "caption": "int64", "text": "string"},
            [],
        )
        return Described(
            title=f"D′ of {dataset}, filled by {filling}, captions {captions}",
            about="Training pictures from which the objects of one class were painted out, each with a caption that "
            "does not name them: what decorrelates a retrieval model.",
            notes=(f"{len(pairs)} pairs.",),
            usage=_USAGE.format(name=dumps(artifact.target.name)),
            files={"data/train-00000-of-00001.parquet": file},
            start=None,
            library="datasets",
            task="image-to-text",
            language="en",
            measures="",
            front={"configs": [{"config_name": "default", "data_files": [{"split": "train", "path": "data/train-*"}]}]},
        )
