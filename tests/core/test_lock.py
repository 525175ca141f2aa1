"""Artifacts that belong together are used; those that do not are refused, at the start and at every question."""

from pathlib import Path

import pytest

from tests.kvqae.asking.locked_project import hash_of, write_lock
from trivium.core.errors import BadInput
from trivium.core.lock import Artifacts

ARTICLES, PASSAGES, VECTORS, RAW = "kb/articles.parquet", "kb/passages.parquet", "embeddings", "raw"


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def cut(root, words):
    """Cut the passages, as the stage would."""
    write(root, PASSAGES, f"passages of {words} words")


def lock(root, made_from=None):
    """The lock after a whole run; vectors may be from other passages."""
    write_lock(
        root,
        {
            "world": ({}, [RAW]),
            "articles": ({f"{RAW}/pages": hash_of(root, f"{RAW}/pages"), "brought": "1" * 32}, [ARTICLES]),
            "passages": ({ARTICLES: hash_of(root, ARTICLES)}, [PASSAGES]),
            "vectors": ({PASSAGES: made_from or hash_of(root, PASSAGES)}, [VECTORS]),
        },
    )


@pytest.fixture
def root(tmp_path):
    for name in ("one", "two"):
        write(tmp_path, f"{RAW}/pages/{name}", name)
        write(tmp_path, f"{VECTORS}/{name}.npy", name)
    write(tmp_path, f"{RAW}/questions", "who?")
    write(tmp_path, ARTICLES, "articles")
    cut(tmp_path, 100)
    lock(tmp_path)
    return tmp_path


def used(root):
    made = Artifacts(root)
    for path in (VECTORS, PASSAGES, f"{RAW}/pages", "kb"):
        made.use(path)
    return made


def test_what_belongs_together_is_used_and_nothing_is_read_again(root, monkeypatch):
    made = used(root)
    monkeypatch.setattr(Artifacts, "_hash", None)
    made.check()


def test_passages_cut_anew_are_refused_beside_old_vectors(root):
    old = hash_of(root, PASSAGES)
    cut(root, 40)  # by hand: the lock knows nothing
    with pytest.raises(BadInput, match=r"passages\.parquet: it is not what dvc\.lock says: run `make repro` first"):
        used(root)
    lock(root, made_from=old)  # by a run that ended before the vectors
    with pytest.raises(BadInput, match=r"embeddings: it was made by vectors from another kb/passages\.parquet"):
        used(root)
    lock(root)
    used(root).check()


def test_what_lies_further_back_counts_too(root):
    write(root, f"{RAW}/pages/one", "another")
    write_lock(root, {"world": ({}, [RAW])})
    world = (root / "dvc.lock").read_text()
    write(root, f"{RAW}/pages/one", "one")
    lock(root)
    before = (root / "dvc.lock").read_text()
    write(root, f"{RAW}/pages/one", "another")  # the world was made anew, nothing else was
    (root / "dvc.lock").write_text(world + before[before.index("  articles:") : before.index("  world:")])
    made = Artifacts(root)
    with pytest.raises(BadInput, match="it was made by articles from another raw/pages"):
        made.use(PASSAGES)


@pytest.mark.parametrize("words", [40, 7])
def test_a_run_while_the_page_is_open_is_said_at_the_next_question(root, words):
    made = used(root)
    cut(root, words)
    lock(root)
    for _ in range(2):  # again and again
        with pytest.raises(BadInput, match=r"passages\.parquet: was made anew .* start it again"):
            made.check()


def test_a_file_that_is_exchanged_or_added_or_gone_is_said(root):
    for change in (
        lambda: cut(root, 40),
        lambda: write(root, f"{VECTORS}/three.npy", "three"),
        lambda: (root / VECTORS / "one.npy").unlink(),
        lambda: (root / PASSAGES).unlink(),
    ):
        cut(root, 100)
        write(root, f"{VECTORS}/one.npy", "one")
        (root / VECTORS / "three.npy").unlink(missing_ok=True)
        made = used(root)
        change()
        with pytest.raises(BadInput, match="was made anew"):
            made.check()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "stages:",
        "stages: [",
        "stages:\n  a:\n    cmd: a\n    outs:",
        "stages:\n  a:\n    cmd: a\n    outs:\n    - pa",
    ],
)
def test_a_lock_that_is_being_written_is_not_believed(root, text):
    (root / "dvc.lock").write_text(text)
    with pytest.raises(BadInput, match=r"dvc\.lock: it cannot be read; if DVC is writing it, try again"):
        used(root)


def test_without_a_lock_or_outside_it_nothing_is_used(root):
    write(root, "kb2/other", "x")
    with pytest.raises(BadInput, match=r"dvc\.lock does not know it: run `make repro` first"):
        Artifacts(root).use("kb2/other")
    Path(root / "dvc.lock").unlink()
    with pytest.raises(BadInput, match=r"dvc\.lock: not there: run `make repro` first"):
        Artifacts(root).use(PASSAGES)
