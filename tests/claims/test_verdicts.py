import numpy as np
import pytest

from tests.claims.invented import evidence
from trivium.claims.registry import CLAIMS, WORLDS
from trivium.claims.verdicts import judge, judge_cost, verdict
from trivium.measures.trainings import Difference

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
    found = Difference((low + high) / 2, ((low + high) / 2,), low, high, 0.01, 0.03, None)
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
