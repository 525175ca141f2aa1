"""The evidence of claims, on tables by hand; and what intervals and worlds say of a claim."""

import numpy as np
import pyarrow as pa
import pytest

from tests.claims.invented import evidence, keep
from trivium.claims import verdicts
from trivium.claims.verdicts import (
    CLAIMS,
    CONTRASTS,
    WORLDS,
    Claim,
    Reading,
    Rows,
    gather,
    judge,
    judge_cost,
    read_evidence,
    stack_trainings,
    verdict,
)
from trivium.core.errors import BadInput
from trivium.core.tables import write_table
from trivium.formats.facts import FACTORS, SCORES
from trivium.measures.bootstrap import Difference

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
    monkeypatch.setattr(verdicts, "CLAIMS", {"toy": claims})


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
    sides = stack_trainings([gather(folder, "toy", 1)] * 2, "toy", "")
    assert sides.better_count.tolist() == sides.other_count.tolist()
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
    assert stack_trainings([table], "toy", "cost").differences() == pytest.approx([(0.4 + 0.5) / 2])
    assert stack_trainings([table], "toy", "gain").differences() == pytest.approx([(3.3 - 1.75) / 5])
    with pytest.raises(BadInput, match="seed-2"):
        gather(folder, "toy", 2)


def test_trainings_are_read_in_their_order_and_must_have_been_asked_the_same(tmp_path):
    assert read_evidence(tmp_path, "kvqae") == {}
    keep(tmp_path, "kvqae", evidence("kvqae", usual=0.25), worlds=(3,))
    keep(tmp_path, "kvqae", evidence("kvqae"), worlds=(3, 5), trainings=(1,))
    found = read_evidence(tmp_path, "kvqae")
    assert {world: len(tables) for world, tables in found.items()} == {3: 3, 5: 1}
    assert stack_trainings(found[3], "image_adds", "").differences() == pytest.approx([0.25, 0.5, 0.25])
    less = found[3][0].slice(0, 39)
    with pytest.raises(BadInput, match="not asked the same"):
        stack_trainings([found[3][1], less], "image_adds", "")


def test_rows_in_another_order_are_the_same_evidence(tmp_path):
    table = evidence("kvqae")
    order = np.random.default_rng(0).permutation(len(table))
    one, two = (stack_trainings([each], "image_adds", "") for each in (table, table.take(order)))
    assert (one.better == two.better).all()


(SAME,) = (claim for claim in CLAIMS["decorrelation"] if claim.expected == "none")
(KEPT,) = (claim for claim in CLAIMS["decorrelation"] if claim.expected == "kept")
MORE, COST = CLAIMS["kvqae"][0], CLAIMS["complexity"][0]


@pytest.mark.parametrize(
    ("claim", "low", "high", "said"),
    [
        (MORE, 0.01, 0.2, "holds"),
        (MORE, 0.0, 0.2, "cannot tell"),
        (MORE, -0.2, -0.01, "does not hold"),
        (KEPT, -0.04, -0.01, "holds"),  # less, but within five points
        (KEPT, -0.06, 0.02, "cannot tell"),
        (KEPT, -0.2, -0.06, "does not hold"),
        (COST, -0.2, -0.001, "holds"),
        (COST, -0.01, 0.03, "no effect"),
        (COST, -0.03, 0.03, "cannot tell"),
        (COST, 0.01, 0.03, "does not hold"),
        (SAME, -0.02, 0.04, "holds"),
        (SAME, -0.02, 0.06, "cannot tell"),
        (SAME, 0.001, 0.02, "does not hold"),  # small, and there
        (SAME, -0.02, -0.001, "does not hold"),
    ],
)
def test_of_an_interval(claim, low, high, said):
    found = Difference((low + high) / 2, low, high, 0.01, 0.03, None)
    assert verdict(claim, found) == said


def test_a_claim_holds_where_it_holds_in_every_world_with_all_trainings():
    good, bad = evidence("kvqae"), evidence("kvqae", {"rrt_adds": -0.5, "few_shot_reader": 0.0})
    every = {world: [good] * 3 for world in WORLDS["kvqae"]}
    assert {each.verdict for each in judge("kvqae", every)} == {"holds"}
    for less in ({**every, 4: [good] * 2}, {3: [good] * 3, 4: [good] * 3}):
        assert {each.verdict for each in judge("kvqae", less)} == {"cannot tell"}
    found = {each.claim.name: each for each in judge("kvqae", {**every, 5: [bad] * 3})}
    assert found["rrt_adds"].verdict == "does not hold"
    assert found["few_shot_reader"].verdict == "cannot tell"
    assert found["image_adds"].verdict == "holds"
    assert [each.verdict for each in found["rrt_adds"].worlds] == ["holds", "holds", "does not hold"]


def costs(*means, spread=0.002, worlds=3):
    """Contrasts of a reader, about one of the means in each cell; the same facts have the same noise."""
    rng = np.random.default_rng(0)
    own = [rng.normal(0, 0.1, (200, 1)) for _ in range(worlds)]
    return [
        mean + noise - noise.mean() + np.array([[-spread, 0, spread]]) for mean, noise in zip(means, own, strict=True)
    ]


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ((-0.05,) * 3, (-0.03,) * 3, "holds"),
        ((0.05,) * 3, (0.03,) * 3, "does not hold"),
        ((0.0,) * 3, (0.05,) * 3, "no effect"),
        ((0.0,) * 3, (-0.04,) * 3, "differs"),
        ((-0.019,) * 3, (-0.021,) * 3, "holds"),
        ((-0.05,) * 3, (-0.12, -0.12, 0.09), "cannot tell"),  # a world that says the opposite
        ((-0.09, 0.0, 0.0), (-0.015,) * 3, "cannot tell"),
    ],
)
def test_one_verdict_on_what_a_factor_costs_all_readers(one, other, said):
    assert judge_cost({"one": costs(*one), "other": costs(*other)}, 0.02) == said


def test_a_cost_needs_all_runs_and_tells_each_reader():
    table = evidence("complexity")
    lower = [0.99 if claim == "f3_costs" else 1.5 for claim in table["claim"].to_pylist()]
    noise = np.tile(np.linspace(-0.01, 0.01, 40), len(lower) // 40)
    told = table.set_column(table.schema.get_field_index("better"), "better", [np.array(lower) + noise])
    every = {world: [told] * 3 for world in WORLDS["complexity"]}
    found = {each.claim.name: each for each in judge("complexity", every)}
    assert (found["f4_costs"].verdict, found["f3_costs"].verdict) == ("holds", "does not hold")
    assert {round(mean.value, 3) for mean in found["f4_costs"].readers.values()} == {-0.5}
    assert set(found["f4_costs"].readers) == {*found["f4_costs"].claim.parts}
    assert found["readers_read"].verdict == "holds"
    part = {each.claim.name: each for each in judge("complexity", {6: [told]})}
    assert (part["f4_costs"].verdict, part["f4_costs"].worlds[0].verdict) == ("cannot tell", "holds")


def test_every_claim_has_a_name_of_its_own_and_a_sentence():
    for claims in CLAIMS.values():
        assert len({claim.name for claim in claims}) == len(claims)
        for claim in claims:
            assert claim.sentence.endswith(".")
            assert claim.parts
