import ast
import doctest
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import trivium
from trivium.formats import front_door
from trivium.measures import ranking
from trivium.measures.fusion import linear_fusion, reciprocal_rank_fusion
from trivium.measures.significance import fisher_randomization

QRELS = trivium.Qrels.from_dict({"a": [1], "b": [2, 3], "c": []})
FIRST = trivium.Run.from_dict({"a": {1: 3.0, 4: 2.0}, "b": {5: 2.0, 3: 1.0}, "c": {1: 1.0}}, name="first")
SECOND = trivium.Run.from_dict({"a": {4: 9.0, 1: 1.0}, "b": {2: 4.0, 3: 3.0}, "c": {2: 1.0}}, name="second")


def test_the_example_in_the_docstring_holds():
    failed, tried = doctest.testmod(trivium)
    assert tried > 5
    assert failed == 0


def test_importing_the_package_imports_nothing_heavy():
    script = (
        "import sys, trivium\n"
        "dir(trivium)\n"
        "heavy = {'numpy', 'torch', 'pandas', 'pyarrow', 'pydantic', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "rooms = [name for name in sys.modules if name.startswith('trivium.')]\n"
        "assert not rooms, rooms\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", trivium.LAZY)
def test_every_name_is_what_its_owner_has(name):
    assert getattr(trivium, name).__module__ == trivium.LAZY[name]
    assert name in dir(trivium)


def test_a_name_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(AttributeError, match=r"no 'rank' \(choices: BadInput, .*evaluate, fuse"):
        trivium.rank  # noqa: B018


def uses_the_door(file):
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names = node.names if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.Import) and any(alias.name == "trivium" for alias in names):
            yield node.lineno
        if isinstance(node, ast.ImportFrom) and node.module == "trivium":
            yield from (node.lineno for alias in names if alias.name in trivium.LAZY)


def test_the_house_itself_never_uses_the_front_door():
    files = [file for room in ("trivium", "stages", "sample") for file in Path(room).rglob("*.py")]
    assert {str(file): list(uses_the_door(file)) for file in files if list(uses_the_door(file))} == {}


def test_means_are_over_queries():
    measured = trivium.evaluate(QRELS, FIRST, ["mrr", "precision@1"])
    assert measured == pytest.approx({"mrr": (1 + 1 / 2 + 0) / 3, "precision@1": 1 / 3})


def test_an_unknown_measure_is_refused():
    with pytest.raises(ValueError, match=r"unknown measure 'ndgc@5' \(choices: mrr, "):
        trivium.evaluate(QRELS, FIRST, ["ndgc@5"])


def test_fusions_are_those_of_the_measures():
    same = [
        (trivium.fuse([FIRST, SECOND], [1, 3], depth=2), linear_fusion([FIRST, SECOND], [1, 3], depth=2)),
        (trivium.fuse([FIRST, SECOND]), linear_fusion([FIRST, SECOND], [1, 1], depth=None)),
        (trivium.fuse([FIRST, SECOND], method="rrf"), reciprocal_rank_fusion([FIRST, SECOND], depth=None)),
        (
            trivium.fuse([FIRST, SECOND], normalization="rank"),
            linear_fusion([FIRST, SECOND], [1, 1], depth=None, normalization="rank"),
        ),
    ]
    for one, other in same:
        np.testing.assert_array_equal(one.documents, other.documents)
        np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"method": "borda"}, r"'borda' \(choices: linear, rrf\)"), ({"method": "rrf", "weights": [1, 1]}, "no weights")],
)
def test_what_cannot_be_fused_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        trivium.fuse([FIRST, SECOND], **options)


def test_a_comparison_has_means_tests_and_letters():
    found = trivium.compare(QRELS, [FIRST, SECOND], ["mrr", "hits@1"], level=1.0)
    assert found.systems == ("first", "second")
    assert found.means["mrr"] == pytest.approx([(1 + 1 / 2) / 3, (1 / 2 + 1) / 3])
    values = [ranking.evaluate(run, QRELS, ["hits@1"])["hits@1"] for run in (FIRST, SECOND)]
    np.testing.assert_array_equal(found.p["hits@1"], fisher_randomization(values))
    assert found.beaten["mrr"] == ["", ""]
    better = trivium.compare(QRELS, [FIRST, SECOND], ["precision@2"], level=1.0)
    assert better.beaten["precision@2"] == ["", "a"]
    assert "b  second  0.500 a" in str(better)


def test_the_queries_may_come_in_any_order():
    turned = SECOND.select(("c", "b", "a"))
    one, other = (trivium.compare(QRELS, [FIRST, each], ["mrr"]) for each in (SECOND, turned))
    np.testing.assert_array_equal(one.p["mrr"], other.p["mrr"])
    assert front_door.evaluate(QRELS, turned, ["mrr"]) == front_door.evaluate(QRELS, SECOND, ["mrr"])


def test_two_systems_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two systems of one name"):
        trivium.compare(QRELS, [FIRST, FIRST], ["mrr"])


def test_files_are_written_and_read(tmp_path):
    trivium.write_run(tmp_path / "run.trec", FIRST)
    assert trivium.read_run(tmp_path / "run.trec").queries == FIRST.queries


def test_what_the_docs_show_runs_as_pasted(tmp_path, monkeypatch, capsys):
    (example,) = (
        block
        for block in Path("docs/using.md").read_text("utf-8").split("```python\n")[1:]
        if "trivium.compare" in block
    )
    for name in ("qrels.txt", "validation.qrels"):
        (tmp_path / name).write_text("q1 0 doc7 1\nq2 0 doc8 1\n")
    for name in ("my.run", "text.run", "image.run"):
        (tmp_path / name).write_text("q1 Q0 doc7 1 2.5 tag\nq2 Q0 doc9 1 1.5 tag\n")
    monkeypatch.chdir(tmp_path)
    exec(example.split("```")[0], {})
    assert "b  theirs" in capsys.readouterr().out


def test_the_version_is_the_packages():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert trivium.__version__ == project["version"]
