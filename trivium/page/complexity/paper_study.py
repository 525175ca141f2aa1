"""What a study of the paper's size can say beside its Table 2: called worse with nothing there, and its δ found."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trivium.complexity.effects.sensitivity import CRITERIA, Curves, Power, by_curve, power_at
from trivium.page.common import environment
from trivium.page.complexity.instrument import METHODS
from trivium.page.complexity.published import published_deltas


def expected_finds(curves: Curves, deltas: Iterable[tuple[str, float]], criterion: str) -> float:
    """How many of these (factor, δ) a study of the paper's size finds in the mean, were each of them true."""
    return sum(power_at(curves["paper", criterion, factor], delta) for factor, delta in deltas)


def paper_study_html(
    every: Sequence[Power], published: Mapping[str, Any], names: Mapping[str, str], *, risk: float
) -> str:
    """How often each criterion calls a factor worse that does nothing, and how many of the paper's losses it finds.

    Args:
        every: of stage simulate.
        published: tests/published/complexity.yaml.
        names: what each factor says.
        risk: of the tests, of which one half lies on the side of "worse".
    """
    curves = by_curve(every)
    factors = list(dict.fromkeys(each.factor for each in every))
    nothing = {key: next(each for each in group if each.planted == 0) for key, group in curves.items()}
    losses = [
        (model, factor, value)
        for model, row in published_deltas(published, names).items()
        for factor, value in row.items()
        if value < 0 and factor in factors
    ]
    strongest = {factor: min(each.delta for each in curves["paper", CRITERIA[0], factor]) for factor in factors}
    finds = [
        {
            "name": METHODS[criterion],
            "of": [
                expected_finds(curves, [(factor, value) for _, factor, value in losses if factor == asked], criterion)
                for asked in factors
            ],
            "all": expected_finds(curves, [(factor, value) for _, factor, value in losses], criterion),
            "weakest": expected_finds(curves, [(factor, value + 1) for _, factor, value in losses], criterion),
        }
        for criterion in CRITERIA
    ]
    return (
        environment()
        .get_template("complexity_paper_study.html")
        .render(
            factors=factors,
            names=names,
            sizes=list(dict.fromkeys(each.size for each in every)),
            criteria={criterion: METHODS[criterion] for criterion in CRITERIA},
            nothing=nothing,
            nominal=risk / 2,
            too_often={
                criterion: [f for f in factors if nothing["paper", criterion, f].low > risk / 2]
                for criterion in ("mann_whitney", "frame")
            },
            losses=[sum(factor == asked for _, factor, _ in losses) for asked in factors],
            finds=finds,
            outside=[
                (published["table_1"]["rows"][model]["label"], factor, value, strongest[factor])
                for model, factor, value in losses
                if value < strongest[factor]
            ],
        )
    )
