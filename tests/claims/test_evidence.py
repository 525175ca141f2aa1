import numpy as np
import pyarrow as pa
import pytest

from tests.claims.invented import evidence, keep
from trivium.claims import evidence as module
from trivium.claims.evidence import CONTRASTS, gather, kept, stacked
from trivium.claims.registry import Claim, Reading, Rows
from trivium.core.errors import BadInput
from trivium.core.tables import write_table
from trivium.formats.facts import FACTORS, SCORES

TABLE = "data/rows.parquet"
ROWS = {
    "row": ["ours", "ours", "ours", "base", "base", "base"],
    "seed": [1, 1, 1, None, None, None],
    "picture": [7, 7, 10, 10, 7, 7],
    "rank": [1, 2, 3, 1, 1, 1],
    "value": [0.5, 1.0, 0.0, 0.25, 0.5, 0.0],
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data" / "complexity").mkdir(parents=True)
    return tmp_path


def given(monkeypatch, *claims):
    monkeypatch.setattr(module, "CLAIMS", {"toy": claims})


def rows(**changes):
    told = {"shared": {}, "better": {"row": "ours", "seed": "{training}"}, "other": {"row": "base"}}
    return Claim("toy", "It is.", "M", "more", {"": Rows(TABLE, **told, item="picture", value="value", **changes)})


def test_rows_are_summed_by_item(folder, monkeypatch):
    given(monkeypatch, rows())
    write_table(folder / TABLE, pa.table(ROWS))
    found = gather(folder, "toy", 1).to_pydict()
    assert found["item"] == ["10", "7"]
    assert (found["better"], found["better_count"]) == ([0.0, 1.5], [1.0, 2.0])
    assert (found["other"], found["other_count"]) == ([0.25, 0.5], [1.0, 2.0])
    sides = stacked([gather(folder, "toy", 1)] * 2, "toy", "")
    assert sides.paired
    assert sides.differences() == pytest.approx([1.5 / 3 - 0.75 / 3] * 2)


def test_a_rank_becomes_whether_it_is_high_enough(folder, monkeypatch):
    claim = rows(top=2)
    source = claim.parts[""]
    given(monkeypatch, Claim("toy", "It is.", "M", "more", {"": Rows(**{**vars(source), "value": "rank"})}))
    write_table(folder / TABLE, pa.table(ROWS))
    assert gather(folder, "toy", 1)["better"].to_pylist() == [0.0, 2.0]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"row": ["ours"] * 6}, "no such row"),
        ({"seed": [0] * 6}, "no such row"),
        ({"picture": [7, 7, 10, 11, 7, 7]}, "other items"),
        ({"picture": [7, 7, 10, 10, 10, 7]}, "other items"),
    ],
)
def test_what_cannot_be_compared_is_refused(folder, monkeypatch, changed, said):
    given(monkeypatch, rows())
    write_table(folder / TABLE, pa.table(ROWS | changed))
    with pytest.raises(BadInput, match=said):
        gather(folder, "toy", 1)


def test_what_a_factor_costs_by_fact_and_what_a_reader_gains(folder, monkeypatch):
    parts = {"cost": Reading("r", "f2"), "gain": Reading("r")}
    given(monkeypatch, Claim("toy", "It costs.", "ROUGE-L", "costs", parts))
    empty = dict.fromkeys(FACTORS) | {"id": "", "corpus": "a", "reader": "r", "seed": 1, "answer": ""}
    told = [
        ("b", True, 0.2, 0.5),
        ("b", False, 0.6, 0.25),
        ("a", True, 0.5, 0.5),
        ("a", False, 1.0, 0.0),
        ("c", None, 1.0, 0.5),
    ]
    scores = [empty | {"fact": f, "f2": there, "score": s, "baseline": plain} for f, there, s, plain in told]
    write_table(folder / CONTRASTS.format(reader="r", training=1), pa.Table.from_pylist(scores, SCORES))
    table = gather(folder, "toy", 1)
    assert stacked([table], "toy", "cost").differences() == pytest.approx([(0.4 + 0.5) / 2])
    assert stacked([table], "toy", "gain").differences() == pytest.approx([(3.3 - 1.75) / 5])
    with pytest.raises(BadInput, match="seed-2"):
        gather(folder, "toy", 2)


def test_trainings_are_read_in_their_order_and_must_have_been_asked_the_same(tmp_path):
    assert kept(tmp_path, "kvqae") == {}
    keep(tmp_path, "kvqae", evidence("kvqae", usual=0.25), worlds=(3,))
    keep(tmp_path, "kvqae", evidence("kvqae"), worlds=(3, 5), trainings=(1,))
    found = kept(tmp_path, "kvqae")
    assert {world: len(tables) for world, tables in found.items()} == {3: 3, 5: 1}
    assert stacked(found[3], "image_adds", "").differences() == pytest.approx([0.25, 0.5, 0.25])
    less = found[3][0].slice(0, 39)
    with pytest.raises(BadInput, match="not asked the same"):
        stacked([found[3][1], less], "image_adds", "")


def test_rows_in_another_order_are_the_same_evidence(tmp_path):
    table = evidence("kvqae")
    order = np.random.default_rng(0).permutation(len(table))
    one, two = (stacked([each], "image_adds", "") for each in (table, table.take(order)))
    assert (one.better == two.better).all()
