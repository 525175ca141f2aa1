"""Embeddings of other tools: the inputs that are written, and every way in which the matrices can be wrong."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from tests.decorrelation.benchmark.benchmark_project import Words
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.embeddings import KeptEmbeddings, embed, write_inputs
from trivium.decorrelation.benchmark.family import find_model


@pytest.fixture
def kept(asked, tmp_path):
    """What somebody makes of the inputs."""
    folder = tmp_path / "kept"
    write_inputs(asked, folder)
    pictures, captions = (
        [json.loads(line) for line in (folder / f"{part}.jsonl").read_text("utf-8").splitlines()]
        for part in ("pictures", "captions")
    )
    opened = [Image.open(io.BytesIO((folder / each["file"]).read_bytes())).convert("RGB") for each in pictures]
    np.save(folder / "pictures.npy", Words().encode_images(opened))
    np.save(folder / "captions.npy", Words().encode_texts([each["text"] for each in captions]))
    return folder


def test_embedding_the_inputs_gives_the_vectors_of_the_model(asked, kept):
    found, right = find_model(f"npy:{kept}").load().vectors(asked), embed(Words(), asked, "words")
    for part in ("pictures", "painted", "captions"):
        np.testing.assert_allclose(getattr(found, part), getattr(right, part), atol=1e-6)


def test_rows_are_found_by_their_ids(asked, kept):
    right = KeptEmbeddings(kept).vectors(asked)
    for part in ("pictures", "captions"):
        matrix, lines = np.load(kept / f"{part}.npy"), (kept / f"{part}.jsonl").read_text("utf-8").splitlines()
        order = np.random.default_rng(0).permutation(len(lines))
        np.save(kept / f"{part}.npy", matrix[order])
        (kept / f"{part}.jsonl").write_text("\n".join(lines[row] for row in order) + "\n", "utf-8")
    found = KeptEmbeddings(kept).vectors(asked)
    for part in ("pictures", "painted", "captions"):
        np.testing.assert_array_equal(getattr(found, part), getattr(right, part))


def change(kept, part, edit):
    np.save(kept / f"{part}.npy", edit(np.load(kept / f"{part}.npy")))


def with_nan(matrix):
    matrix[2, 1] = np.nan
    return matrix


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (with_nan, r"captions.npy:3: NaN or infinite value"),
        (
            lambda matrix: matrix[:-1],
            r"captions.npy: another count of embeddings than of ids; got 68; expected 69, as in",
        ),
        (lambda matrix: matrix.astype(str), r"captions.npy: not a matrix of numbers"),
    ],
)
def test_matrices_that_cannot_be_used_are_refused_before_anything_is_asked(kept, edit, message):
    change(kept, "captions", edit)
    with pytest.raises(BadInput, match=message):
        find_model(f"npy:{kept}")


def test_pickles_are_never_opened(kept, tmp_path):
    class Theirs:
        def __reduce__(self):
            return (exec, (f"open({str(tmp_path / 'ran')!r}, 'w')",))

    np.save(kept / "captions.npy", np.array([Theirs()] * 69), allow_pickle=True)
    with pytest.raises(BadInput, match=r"captions.npy"):
        find_model(str(kept))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("part", "edit", "message"),
    [
        ("captions", lambda lines: [*lines[:-1], lines[0]], "field 'id': 1 of 69 embeddings are missing"),
        ("captions", lambda lines: [*lines[:-1], '{"id": "9999"}'], "field 'id': 1 of 69 embeddings are missing"),
    ],
)
def test_ids_that_do_not_fit_are_named(asked, kept, part, edit, message):
    file = kept / f"{part}.jsonl"
    file.write_text("\n".join(edit(file.read_text("utf-8").splitlines())) + "\n", "utf-8")
    with pytest.raises(BadInput, match=message):
        find_model(f"npy:{kept}").load().vectors(asked)


def test_embeddings_of_more_than_was_asked_are_of_another_set(asked, kept):
    change(kept, "pictures", lambda matrix: np.vstack([matrix, matrix[:1]]))
    with (kept / "pictures.jsonl").open("a") as out:
        out.write('{"id": "other"}\n')
    with pytest.raises(
        BadInput, match=r"pictures.jsonl: field 'id': ids twice, or of another set; got 14; expected the 13"
    ):
        KeptEmbeddings(kept).vectors(asked)


def test_inputs_do_not_overwrite(asked, kept):
    with pytest.raises(BadInput, match="there is something already"):
        write_inputs(asked, kept)
