"""What a question of one's own goes through in a project: the parameters, and what the last `dvc repro` made."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from trivium.core.arithmetic import remember
from trivium.core.errors import BadInput
from trivium.core.parameters import (
    Parameters,
    RunParameters,
    read_parameters,
    section_of,
    used_values,
    validate,
    values_of,
)
from trivium.kvqae.asking.artifacts import Artifacts
from trivium.kvqae.reader.table7 import ReadParameters
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters
from trivium.kvqae.rerankers.reranker import reranker_settings
from trivium.kvqae.retrieval.bm25 import Bm25SearchParameters
from trivium.kvqae.retrieval.dense_search import DenseSearchParameters
from trivium.kvqae.retrieval.fusion import FuseParameters, WeightGridParameters
from trivium.kvqae.retrieval.image_search import ImageSearchParameters

P = TypeVar("P", bound=Parameters)


class FuseSection(FuseParameters, WeightGridParameters):
    """Section `kvqae.fuse`, as its stage reads it."""


def made(root: Path, path: str) -> Path:
    """A file or folder that the graph writes.

    Raises:
        BadInput: it is not there.
    """
    found = root / path
    if not found.exists():
        raise BadInput("not there: run `make repro` first", file=found)
    return found


@dataclass(frozen=True)
class Project:
    """A folder with `params.yaml`, `data/`, `models/` and `metrics/`, and the sections that asking uses."""

    root: Path
    artifacts: Artifacts
    bm25_search: Bm25SearchParameters
    dense_search: DenseSearchParameters
    text_tokens: int
    picture_limits: dict[str, int]
    image_search: ImageSearchParameters
    fuse: FuseParameters
    local_features: LocalFeaturesParameters
    rerankers: dict[str, Any]
    reranked_row: str
    pairs: dict[str, int]
    read: ReadParameters
    dataset: str

    @classmethod
    def open(cls, root: Path) -> Self:
        """Read the parameters; precision is as in the stages.

        Raises:
            BadInput: as for a stage.
        """
        path = root / "params.yaml"
        tree = read_parameters(path)

        def section(name: str, model: type[P]) -> P:
            values = values_of(tree, f"kvqae.{name}", model, path, {})
            return validate(model, values, f"kvqae.{name}", path)

        run = validate(RunParameters, tree.get("run") or {}, "run", path)
        remember(run.portable)
        return cls(
            root,
            Artifacts(root),
            bm25_search=section("bm25_search", Bm25SearchParameters),
            dense_search=section("dense_search", DenseSearchParameters),
            text_tokens=int(used_values(path, "kvqae.texts.tokens")),
            picture_limits=section_of(tree, "kvqae.pictures", path),
            image_search=section("image_search", ImageSearchParameters),
            fuse=section("fuse", FuseSection),
            local_features=section("local_features", LocalFeaturesParameters),
            rerankers={
                name: reranker_settings(name, entry)
                for name, entry in section_of(tree, "kvqae.rerankers", path).items()
            },
            reranked_row=str(used_values(path, "kvqae.initial.run")),
            pairs={name: int(used_values(path, f"kvqae.texts.pair_{name}")) for name in ("tokens", "batch")},
            read=section("read", ReadParameters),
            dataset=str(used_values(path, "kvqae.dataset")),
        )

    def made(self, path: str) -> Path:
        """`made` in this project, checked.

        Raises:
            BadInput: also when it does not fit the other artifacts.
        """
        found = made(self.root, path)
        self.artifacts.use(path)
        return found
