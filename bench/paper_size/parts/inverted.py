"""The same search by an inverted file of one byte a component, which is trained, filled, written and searched."""

from pathlib import Path

from bench.paper_size.parts import dense
from trivium.core.engine import LocalEngine
from trivium.core.matrices import read_matrix
from trivium.kvqae.retrieval.dense_search import search

SIZE, UNIT = 12_000_000, "passages"
make = dense.make


def run(folder: Path, out: Path) -> None:
    size = len(read_matrix(folder / "kb.npy"))
    search(folder, dense.parameters("ivf_sq8", size), LocalEngine(1), out)
