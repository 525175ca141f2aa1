"""From an output of the graph to a package: its lineage, what its kind says of it, its card."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from trivium.commands.sharing.card import card_of
from trivium.commands.sharing.lineage import read_lineage
from trivium.commands.sharing.package import Artifact, Package, Target, kind_of, shareable
from trivium.core.errors import BadInput
from trivium.nets.cards import CARD


@contextmanager
def packed(project: Path, path: str, target: Target) -> Iterator[Package]:
    """An output, with its card, while the block runs.

    Args:
        project: the repository of the graph.
        path: of the output there.
        target: which the card's code names.

    Raises:
        BadInput: no such output, none that leaves, or one that is not what `dvc.lock` says.
    """
    path = str(PurePosixPath(path))
    kind = kind_of(path)
    if kind is None:
        raise BadInput("not an output that can be shared", got=path, choices=shareable(project))
    lineage = read_lineage(project, path)
    with tempfile.TemporaryDirectory(prefix="trivium-push-") as work:
        artifact = Artifact(project, path, lineage, target, Path(work))
        described = kind.describe(artifact)
        yield Package(kind.kind, {CARD: card_of(kind.kind, artifact, described).encode(), **described.files})
