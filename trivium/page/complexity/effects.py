"""What complexity's factors cost: Table 2, the sentences about it, and facts told with and without a factor."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup

from trivium.claims.verdicts import Verdict
from trivium.complexity.effects.analysed_tables import read_factors
from trivium.complexity.effects.regression import of_frames
from trivium.core.tables import read_table
from trivium.formats.facts import FACTORS, sides
from trivium.measures.bootstrap import ContrastMean, mean_contrast
from trivium.measures.effects import floor_points
from trivium.page.complexity.material import LABELS, Effect, Material
from trivium.page.figures import draw_estimates, estimates_of
from trivium.page.html import between, figure, render, signed, small
from trivium.page.thorough import COSTLY, claim_html

COSTS = "costs every reader"
MARGIN = 2.0  # points up to which a cost counts as none, as in the claims
_VERDICTS: dict[str, Callable[[Effect, float], bool]] = {  # by an effect that has a δ, and the risk
    "validated": lambda effect, _: effect["validated"],
    "significant": lambda effect, _: effect["significant"],
    "holm": lambda effect, _: effect["holm_significant"],
    "found": lambda effect, _: effect["found"],
    "gains": lambda effect, risk: effect["delta"] > 0 and effect["p"] is not None and effect["p"] <= risk,
    "joint_disagrees": lambda effect, _: effect["joint"] is not None and (effect["joint"] < 0) != (effect["delta"] < 0),
    "only_examples": lambda effect, risk: (
        effect["significant"] and (effect["p_frame"] is None or effect["p_frame"] > risk)
    ),
}


def marks(effect: Effect, risk: float) -> str:
    """The signs beside a δ; they need no colour.

    ↓ validated (δ < 0), * significant too, ** after Holm's correction too, ◆ found by every analysis, ◆◆ that after
    Holm's correction; ↑ a gain whose Mann-Whitney p is at most the risk.
    """
    if effect["delta"] is None:
        return ""
    signs = "↓" * effect["validated"]
    signs += "**" if effect["holm_significant"] else "*" * effect["significant"]
    signs += "◆◆" if effect["found_holm"] else "◆" * effect["found"]
    return signs + "↑" * _VERDICTS["gains"](effect, risk)


def table_2(of: Material) -> Markup:
    """δ of every model and factor, marked, its numbers to unfold, the published δ beneath."""
    metrics = of.metrics("validate")
    others = [name for name in of.names if any(f"{model}_{name}_other_delta_points" in metrics for model in of.effects)]
    smallest = [smallest_loss([row[factor] for row in of.effects.values()]) for factor in of.names]
    return render("complexity/table-2.html", of=of, metrics=metrics, marks=marks, others=others, floor=floor_points,
                  smallest=smallest)  # fmt: skip


def smallest_loss(effects: Sequence[Effect]) -> float | None:
    """The loss in points that a table of such intervals finds in four of five studies: 2.8 mean standard errors.

    2.8 = z(0.975) + z(0.8); a standard error is an interval's width divided by 3.92.
    """
    widths = [effect["high"] - effect["low"] for effect in effects if effect["low"] is not None]
    return 2.8 * fmean(widths) / 3.92 if widths else None


def forest(of: Material) -> Markup:
    """Each model's δ beside the factor's coefficient when all factors are held together, as figures and a table.

    Of factors that are constant in every frame it gives Cramér's V with the element asked for, where that is defined.
    """
    coded, balance = read_factors(of.data / "factors.parquet"), of.metrics("factors")
    constant = of_frames(coded.factors, coded.frames)
    whole = {name: balance.get(f"{name}_balance") for name, same in zip(coded.names, constant, strict=True) if same}
    drawn = []
    for model, by_factor in of.effects.items():
        rows, label = [*by_factor.values()], of.labels[model]
        series = {"plain δ": estimates_of(rows, "delta", "low", "high"),
                  "all factors together": estimates_of(rows, "joint", "joint_low", "joint_high")}  # fmt: skip
        svg = draw_estimates(list(by_factor), series, title=f"Effects of the factors on {label}",
                             xlabel=f"points of {of.measure}")  # fmt: skip
        drawn.append(figure(svg, Markup("<strong>{}</strong>").format(label)))
    return render("complexity/forest.html", of=of, drawn=drawn, whole=whole)


def first_claim_html(
    effects: Mapping[str, Mapping[str, Effect]], names: Mapping[str, str], labels: Mapping[str, str], measure: str
) -> Markup:
    """What complexity's page begins with: whether there is a factor that costs every model something.

    It holds where δ is below 0 for every model and, after Holm's correction, significant for more than half of them.
    """
    everywhere = {
        factor: [row[factor] for row in effects.values()]
        for factor in names
        if all(row[factor]["delta"] is not None and row[factor]["delta"] < 0 for row in effects.values())
    }
    shown = any(2 * sum(effect["holm_significant"] for effect in row) > len(row) for row in everywhere.values())
    said: Verdict = "holds" if shown else "cannot tell" if everywhere else "does not hold"
    models = ", ".join(labels[model] for model in effects)
    numbers = render("complexity/first_numbers.html", everywhere=everywhere, names=names, measure=measure,
                     models=models)  # fmt: skip
    return claim_html("There are meanings that make questions harder for every model.", said, numbers)


def findings(of: Material) -> list[dict[str, Any]]:
    """What our analysis and the paper's table say of each factor.

    In how many `models` it has a δ, the models of each verdict, in how many of the paper's models δ < 0, Cramér's V
    with the element asked for, and the size of the smaller of its two sets.
    """
    metrics, rows = of.metrics("factors"), []
    for factor, name in of.names.items():
        effects = {model: row[factor] for model, row in of.effects.items() if row[factor]["delta"] is not None}
        papers = [values[factor] for values in of.printed_deltas.values() if factor in values]
        verdicts = {
            verdict: [of.labels[model] for model, effect in effects.items() if test(effect, of.risk)]
            for verdict, test in _VERDICTS.items()
        }
        smaller = min((min(effect["yes"], effect["no"]) for effect in effects.values()), default=0)
        balance, corrected = (metrics.get(f"{factor}_balance{end}") for end in ("", "_corrected"))
        rows.append(
            {"factor": factor, "name": name, "models": len(effects), **verdicts, "smaller": smaller,
             "paper_models": len(papers), "paper_negative": sum(delta < 0 for delta in papers),
             "balance": balance, "corrected": corrected}
        )  # fmt: skip
    return rows


@dataclass(frozen=True)
class Contrasts:
    """What a run's readers made of the facts."""

    facts: Sequence[Mapping[str, Any]]  # rows of `facts.parquet`; none where the world is not the sample's
    scores: Mapping[str, Sequence[pa.Table]]  # by a reader's label, the tables of its trainings
    means: Mapping[str, Mapping[str, ContrastMean]]  # by factor and reader, δ in points, below 0 where it costs

    @property
    def costly(self) -> list[str]:
        """The factors that cost every reader of this run."""
        return [factor for factor, means in self.means.items() if summarize_costs([*means.values()]) == COSTS]

    @property
    def hardest(self) -> str:
        """The factor that costs most even the reader that loses least by it, of those that cost every reader if any."""
        return max(self.costly or self.means, key=lambda name: -max(mean.value for mean in self.means[name].values()))


def read_contrasts(of: Material) -> Contrasts:
    """Read the facts and what each reader scored, of all trainings of this run."""
    facts = read_table(of.data / "raw" / "crossed" / "facts.parquet").to_pylist()
    scores = {
        of.labels[reader]: [*map(read_table, sorted((of.data / "contrasts" / reader).glob("seed-*.parquet")))]
        for reader in (of.used["contrasts"]["readers"] if facts else ())
    }
    means: dict[str, dict[str, ContrastMean]] = {}
    for factor in FACTORS:
        if any(row[factor] is not None for row in facts):
            versions = {reader: [sides(table, factor) for table in tables] for reader, tables in scores.items()}
            means[factor] = {
                reader: mean_contrast([100 * np.stack([present - without for _, without, present in told], axis=1)])
                for reader, told in versions.items()
            }
    return Contrasts(facts, scores, means)


def render_contrasts_claim(contrasts: Contrasts) -> Markup:
    """What stands first on the page: a factor that costs every reader of this run, or that there is none."""
    if not contrasts.costly:
        return claim_html("Something in a text makes it harder to every reader.", "cannot tell",
                          "No factor costs every reader of this run for sure.")  # fmt: skip
    hardest = contrasts.hardest
    numbers = render("complexity/costly_numbers.html", factor=hardest, means=contrasts.means[hardest])
    return claim_html(COSTLY[hardest], "holds", numbers)


def render_contrasts_picture(contrasts: Contrasts) -> Markup:
    """What stands beside the claim: the first fact that readers lose most of by the hardest factor, in both versions.

    With it stands what the first training of each reader answers.
    """
    factor, lost = contrasts.hardest, defaultdict[str, float](float)
    answers: dict[tuple[str, str], str] = {}
    for reader, (table, *_) in contrasts.scores.items():
        for name, without, present in zip(*sides(table, factor), strict=True):
            lost[name] += float(without - present)
        # A version of f0 and f6 is asked of one corpus' readers, others of both: the last one's stand here.
        answers |= {(row["id"], reader): row["answer"] for row in table.to_pylist()}
    fact = max(lost, key=lambda name: lost[name])
    versions: dict[bool, dict[str, Any]] = {}
    for row in contrasts.facts:
        if row["fact"] == fact and row[factor] is not None and row[factor] not in versions:
            versions[row[factor]] = {**row, "answers": {name: answers[row["id"], name] for name in contrasts.scores}}
    return render("complexity/pair.html", pair=versions, titles=LABELS["versions"][factor])


def render_contrasts(contrasts: Contrasts) -> Markup:
    """Mean δ of each factor and reader, in points."""
    if not contrasts.facts:
        return Markup("<p>Facts that are told twice are of the sample world alone; this run has other texts.</p>")
    rows = []
    for factor, means in contrasts.means.items():
        with_it, without = LABELS["versions"][factor]
        bounds = [f"{signed(mean.value, 1)} {between(*mean.interval())}" for mean in means.values()]
        heading = f"{factor} " + small(f"{with_it}; without it: {without}")
        rows.append([heading, *bounds, summarize_costs([*means.values()])])
    facts, trainings = len({row["fact"] for row in contrasts.facts}), min(map(len, contrasts.scores.values()))
    return render("complexity_contrasts.html", rows=rows, labels=list(contrasts.scores), facts=facts,
                  trainings=trainings, margin=MARGIN)  # fmt: skip


def summarize_costs(means: Sequence[ContrastMean]) -> str:
    """Say in words what the intervals of all readers together show."""
    intervals = [mean.interval() for mean in means]
    if all(high < 0 for _, high in intervals):
        return COSTS
    if all(low > 0 for low, _ in intervals):
        return "helps every reader"
    if all(low > -MARGIN for low, _ in intervals):
        return f"costs none more than {MARGIN:.0f} points"
    return "cannot be told from this run"
