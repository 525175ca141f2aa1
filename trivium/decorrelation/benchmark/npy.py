"""Embeddings that another tool has made: `.npy` matrices, and the ids of their rows.

A folder holds `pictures.npy` with `pictures.jsonl`, and `captions.npy` with `captions.jsonl`: line n has the `id` of
row n. `write_inputs` writes the pictures, the texts and both lists; whoever embeds them in that order has only to add
the matrices.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.matrices import read_named_rows
from trivium.core.tables import write_json_lines
from trivium.decorrelation.benchmark.answers import SetAnswers, answer
from trivium.decorrelation.benchmark.benchmark_set import PICTURE_TYPES, BenchmarkSet
from trivium.decorrelation.benchmark.embedder import SetVectors, in_one_space, unit
from trivium.decorrelation.retrieval.encoding import Vectors


class KeptEmbeddings:
    """The vectors of a folder, by their ids.

    Raises:
        BadInput: a file is missing, is no matrix of numbers, holds NaN, or has another count than the ids; an id twice.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts = {part: _read(folder, part) for part in ("pictures", "captions")}

    def answer(self, benchmark: BenchmarkSet) -> SetAnswers:
        """See `answers.answer`; raises as `vectors`."""
        return answer(benchmark, self.vectors(benchmark))

    def vectors(self, benchmark: BenchmarkSet) -> SetVectors:
        """The vectors of a set's pictures and captions.

        Raises:
            BadInput: an id of the set is missing, or the set lacks an id.
        """
        count = len(benchmark.pictures.queries)
        pictures = self._rows("pictures", [*benchmark.pictures.queries, *benchmark.painted.queries])
        texts = self._rows("captions", list(_texts(benchmark)))
        captions = len(benchmark.captions.ids)
        parts = SetVectors(pictures[:count], pictures[count:], texts[:captions], texts[captions:])
        return in_one_space(str(self._folder), parts)

    def _rows(self, part: str, ids: Sequence[str]) -> Vectors:
        places, matrix = self._parts[part]
        file = self._folder / f"{part}.jsonl"
        if missing := [name for name in ids if name not in places]:
            raise BadInput(f"{len(missing)} of {len(ids)} embeddings are missing", file=file, field="id",
                           got=f"no {missing[0]}", expected="those of --inputs")  # fmt: skip
        if others := places.keys() - set(ids):
            raise BadInput("embeddings of another set", file=file, field="id", got=min(others),
                           expected="those of --inputs alone")  # fmt: skip
        return unit(matrix[[places[name] for name in ids]], len(ids), str(file.with_suffix(".npy")))


def _read(folder: Path, part: str) -> tuple[dict[str, int], np.ndarray]:
    names, matrix = read_named_rows(folder, part)
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        if places.setdefault(name, place) != place:
            raise BadInput("id twice", file=folder / f"{part}.jsonl", row=place + 1, field="id", got=name)
    return places, matrix


def _texts(benchmark: BenchmarkSet) -> dict[str, str]:
    """{id: text} of all captions, and of those without what is gone, by the query's id."""
    without = (f"without_{benchmark.queries.ids[row]}" for row in benchmark.pairs.queries)
    captions = dict(zip(map(str, benchmark.captions.ids.tolist()), benchmark.captions.texts, strict=True))
    return captions | dict(zip(without, benchmark.pairs.texts, strict=True))


def write_inputs(benchmark: BenchmarkSet, folder: Path) -> None:
    """Write what another tool is to embed: `pictures.jsonl` (id, file), the files, and `captions.jsonl` (id, text).

    Raises:
        BadInput: the folder exists.
    """
    if folder.exists():
        raise BadInput("there is something already", file=folder, expected="a new folder")
    with write_atomically(folder) as path:
        (path / "pictures").mkdir(parents=True)
        lines: list[dict[str, str]] = []
        for pictures in (benchmark.pictures, benchmark.painted):
            ids = dict(zip(pictures.names, pictures.queries, strict=True))
            for name, data in Images(pictures.folder).stream():
                if name in ids:
                    file = f"pictures/{len(lines):06d}.{PICTURE_TYPES.get(data[:2], 'image')}"
                    (path / file).write_bytes(data)
                    lines.append({"id": ids[name], "file": file})
        write_json_lines(path / "pictures.jsonl", lines)
        texts = _texts(benchmark).items()
        write_json_lines(path / "captions.jsonl", ({"id": name, "text": text} for name, text in texts))
