"""What `make thorough` found beyond the default run: claims in several worlds, and more seeds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from trivium.claims.verdicts import READERS, TRAININGS, WORLDS, Judged, Verdict
from trivium.core.parameters import read_beside
from trivium.core.tables import read_json
from trivium.page.html import interval, percent, render

_TEXTS = read_beside(__file__, "thorough.yaml")
ITEMS: dict[str, str] = _TEXTS["items"]
COSTLY: dict[str, str] = _TEXTS["costly"]
FRONT: dict[str, list[str]] = _TEXTS["front"]


@dataclass(frozen=True)
class Thorough:
    """The metrics of one stage at the thorough scale, of what the default trains once or not at all."""

    metrics: Mapping[str, float]  # flat, by name
    commit: str  # that made them
    date: str

    def render_metric(self, key: str) -> Markup:
        """The metric of that name, and its deviation over trainings, in small print; nothing where it was not made."""
        html = Markup('<span class="interval">{} †</span>')
        return html.format(_spread(self.metrics, key)) if key in self.metrics else Markup()


def _spread(metrics: Mapping[str, float], key: str) -> str:
    """A share in per cent and, as far as there is one, its deviation over trainings, in points."""
    return percent(metrics[key]) + (f" ± {percent(metrics[f'{key}_sd'])}" if f"{key}_sd" in metrics else "")


def measured_cell(
    metrics: Mapping[str, float], key: str, thorough: Thorough | None = None, *, bounded: bool = True
) -> Markup:
    """A share in per cent, its deviation over trainings and its interval (unless not `bounded`), as far as they exist.

    Below stands that of the same stage in `thorough`.
    """
    again = thorough.render_metric(key) if thorough else Markup()
    if key not in metrics:
        return again or Markup("–")
    low, high = (metrics.get(f"{key}_{end}") if bounded else None for end in ("low", "high"))
    bounds = interval(None if low is None or high is None else (low, high))
    return Markup("{}{}{}").format(_spread(metrics, key), bounds, again)


def dagger(thorough: Thorough | None) -> Markup:
    """The footnote that explains †; nothing without such numbers."""
    html = '<p class="small">† Several trainings, some of them longer: <code>make thorough</code> on {} at commit '
    html += "<code>{}</code>.</p>"
    return Markup(html).format(thorough.date, thorough.commit[:8]) if thorough else Markup()


def read_thorough(file: Path, stage: str, world: Mapping[str, Any], *, sample: bool) -> Thorough | None:
    """What `metrics/thorough/{pipeline}.json` has of a stage, such as `evaluate`.

    None where it is of another world than the page: not a sample world, or not with this section `world`.
    """
    kept = read_json(file) if sample and file.exists() else {}
    if not kept or kept.get("parameters", {}).get(f"{kept['pipeline']}.world") != world:
        return None
    named = ((key.partition("."), value) for key, value in kept["metrics"].items())
    return Thorough({name: value for (of, _, name), value in named if of == stage}, kept["commit"], kept["date"])


def claims_html(judged: Sequence[Judged], folder: Path, pipeline: str) -> Markup | None:
    """Render all claims of a pipeline, dated by the results in `folder`; None where `make thorough` has not run."""
    if not judged[0].worlds:
        return None
    results = [read_json(file) for file in sorted((folder / pipeline).glob("*.json"))]
    dates, commits = (sorted({result[name] for result in results}) for name in ("date", "commit"))
    rows = [(row, {in_world.world: in_world for in_world in row.worlds}) for row in judged]
    return render("claims.html", rows=rows, worlds=WORLDS[pipeline], trainings=len(TRAININGS), labels=READERS,
                  complete=judged[0].complete, items=ITEMS[pipeline], dates=dates, commits=commits)  # fmt: skip


def front_html(judged: Iterable[Judged], pipeline: str, sentence: str) -> Markup:
    """Render the verdict of all worlds on the sentence that stands first; empty where one of its runs is missing."""
    names = FRONT.get(pipeline) or [f"{factor}_costs" for factor, said in COSTLY.items() if said in sentence]
    first = [row for row in judged if row.claim.name in names]
    if not first or not all(row.complete for row in first):
        return Markup()
    verdicts = {row.verdict for row in first}
    said = first[0].verdict if len(verdicts) == 1 else "does not hold" if "does not hold" in verdicts else "cannot tell"
    return render("claim_in_worlds.html", verdict=said, worlds=WORLDS[pipeline], trainings=len(TRAININGS),
                  together=bool(first[0].readers))  # fmt: skip


def verdict(difference: float, p: float, level: float) -> Verdict:
    """Judge by a two-sided test whether something is more than something else."""
    if p > level or difference == 0:
        return "cannot tell"
    return "holds" if difference > 0 else "does not hold"


def claim_html(
    sentence: str, said: Verdict = "cannot tell", numbers: str = "This run does not compare the two."
) -> Markup:
    """A sentence that stands first on a pipeline's page, its verdict, and this run's numbers."""
    return render("claim.html", sentence=sentence, verdict=said, numbers=numbers)
