"""Stage kvqae-brought_runs: a foreign TREC file by split, cut to the depth; what is not known is refused."""

from pathlib import Path

import pytest

from tests.kvqae.tiny_wikipedia import write_questions, write_wikipedia
from trivium.core.errors import BadInput
from trivium.formats.trec import read_run
from trivium.kvqae.retrieval.systems import write_brought_runs


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight passages, and questions v1 to v3 a split; `brought` with a README and a folder."""
    monkeypatch.chdir(tmp_path)
    write_wikipedia(tmp_path)
    write_questions(tmp_path)
    (tmp_path / "brought/authors").mkdir(parents=True)
    (tmp_path / "brought/README.md").write_text("Runs")
    return tmp_path


def run(world: Path, depth: int = 2) -> dict[str, float]:
    brought, kb, questions, out = (world / name for name in ("brought", "wiki", "viquae", "runs"))
    return write_brought_runs(brought=brought, questions=questions, kb=kb, depth=depth, out=out)


def test_a_file_is_split_and_cut_and_its_order_is_that_of_the_scores(world: Path) -> None:
    (world / "brought/my-run_2.trec").write_text(
        "test-v1 Q0 5 1 0.5 x\ntrain-v2 Q0 1 9 2 x\ntest-v1 Q0 3 2 7e2 x\ntest-v1 Q0 0 3 -1 x\ntest-v3 Q0 7 1 1 x\n"
    )
    (world / "brought/b.trec").write_text("validation-v1 Q0 2 1 1 b\n")
    assert run(world) == {
        "runs": 2,
        "brought_b_validation_questions": 1,
        "brought_b_validation_passages": 1,
        "brought_my-run_2_test_questions": 2,
        "brought_my-run_2_test_passages": 3,
        "brought_my-run_2_train_questions": 1,
        "brought_my-run_2_train_passages": 1,
    }
    found = read_run(world / "runs/brought_my-run_2/test.trec")
    assert found.name == "brought_my-run_2"
    assert (found.queries, found.documents.tolist()) == (("test-v1", "test-v3"), [[3, 5], [7, -1]])
    assert not (world / "runs/brought_my-run_2/validation.trec").exists()


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("mine.txt", "", r"mine\.txt: not the name of a run; .*expected NAME\.trec"),
        ("my run.trec", "", r"my run\.trec: not the name of a run.*letters, digits"),
        ("mine.trec", "test-v9 Q0 1 1 1 x", "mine.trec: field 'query': 1 unknown questions; got 'test-v9'"),
        ("mine.trec", "test-v1 Q0 8 1 1 x", "mine.trec: field 'document': no such passage; got 8; expected below 8"),
        ("mine.trec", "test-v1 Q0 Ada 1 1 x", "mine.trec:1: field 'document': not a document number; got 'Ada'"),
        ("mine.trec", "test-v1 Q0 1 1 x", "mine.trec:1: wrong number of columns; got 5"),
        ("mine.trec", "", "mine.trec: empty run"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_left(world: Path, name: str, line: str, message: str) -> None:
    (world / "brought" / name).write_text(line)
    with pytest.raises(BadInput, match=message):
        run(world)
    assert not list(world.glob("*runs*"))
