import pytest

from tests.claims.invented import evidence
from trivium.claims.registry import CLAIMS, WORLDS
from trivium.claims.verdicts import judge, verdict
from trivium.measures.trainings import Difference

(SAME,) = (claim for claim in CLAIMS["decorrelation"] if claim.expected == "none")
(KEPT,) = (claim for claim in CLAIMS["decorrelation"] if claim.expected == "kept")
MORE = CLAIMS["kvqae"][0]


@pytest.mark.parametrize(
    ("claim", "low", "high", "said"),
    [
        (MORE, 0.01, 0.2, "holds"),
        (MORE, 0.0, 0.2, "cannot tell"),
        (MORE, -0.2, -0.01, "does not hold"),
        (KEPT, -0.04, -0.01, "holds"),  # less, but within five points
        (KEPT, -0.06, 0.02, "cannot tell"),
        (KEPT, -0.2, -0.06, "does not hold"),
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
    every = {world: [good] * 3 for world in WORLDS}
    assert {each.verdict for each in judge("kvqae", every)} == {"holds"}
    for less in ({**every, 4: [good] * 2}, {3: [good] * 3, 4: [good] * 3}):
        assert {each.verdict for each in judge("kvqae", less)} == {"cannot tell"}
    found = {each.claim.name: each for each in judge("kvqae", {**every, 5: [bad] * 3})}
    assert found["rrt_adds"].verdict == "does not hold"
    assert found["few_shot_reader"].verdict == "cannot tell"
    assert found["image_adds"].verdict == "holds"
    assert [each.verdict for each in found["rrt_adds"].worlds] == ["holds", "holds", "does not hold"]


def test_of_several_models_all_must_show_it_and_the_weakest_is_told():
    table = evidence("complexity")
    lower = table["better"].to_pylist()
    for row, (claim, model) in enumerate(zip(table["claim"].to_pylist(), table["part"].to_pylist(), strict=True)):
        lower[row] = {("f3_costs", "minilm"): 1.0, ("f5_costs", "mt5"): 0.75}.get((claim, model), lower[row])
    told = table.set_column(table.schema.get_field_index("better"), "better", [lower])
    found = {each.claim.name: each.worlds[0] for each in judge("complexity", {3: [told]})}
    assert (found["f4_costs"].verdict, found["f4_costs"].difference.value) == ("holds", 0.5)
    assert (found["f3_costs"].verdict, found["f3_costs"].difference.value) == ("cannot tell", 0)
    assert (found["f5_costs"].verdict, found["f5_costs"].difference.value) == ("does not hold", -0.25)


def test_every_claim_has_a_name_of_its_own_and_a_sentence():
    for claims in CLAIMS.values():
        assert len({claim.name for claim in claims}) == len(claims)
        for claim in claims:
            assert claim.sentence.endswith(".")
            assert claim.parts
