"""The image re-ranker, which this project alone loads."""

from trivium.commands.sharing.kinds.retrieval_model import ours
from trivium.commands.sharing.package import Artifact, Described, Kind
from trivium.core.errors import BadInput

_USAGE = """
from pathlib import Path

from trivium.kvqae.rerankers.rrt import load_rrt

model = load_rrt(Path({where}))
print(model.sizes)  # it compares the global and local descriptors that `extractor/` names
"""


class Rrt(Kind):
    """Re-Ranking Transformer (kvqae.md §4)."""

    name, kind, pattern = "rrt", "model", "models/kvqae/rrt"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """One that was trained here; the authors' own stays theirs."""
        if artifact.lineage.data.get("photographs of landmarks") == "hub":
            raise BadInput("the authors' weights, which nothing here has changed", file=artifact.source)
        if not (artifact.source / "model.safetensors").is_file():
            raise BadInput("no re-ranker was trained here (kvqae.rrt.use)", file=artifact.source)
        return Described(
            title="Trivium's Re-Ranking Transformer",
            about="Tells from global and local descriptors whether two images show the same thing (Tan et al., ICCV "
            "2021).",
            notes=("No public library loads it; this project's does: `pip install .` in its repository.",),
            usage=_USAGE.format(where=ours(artifact)),
            files=artifact.files(),
            start=None,
            library="trivium",
            tags=("image-retrieval",),
        )
