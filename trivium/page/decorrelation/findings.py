"""What the numbers show: the effect, and the checks that it is not something else; every sentence is computed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from trivium.page.decorrelation.checks import Expected, checks, notes
from trivium.page.decorrelation.results import Results, model_label, shown
from trivium.page.html import Cell, Column, percent, points, probability, render, small, table
from trivium.page.published import DATASETS
from trivium.page.thorough import claim_html, not_asked_html
from trivium.page.thorough import verdict as verdict_of

Comparison = Mapping[str, Any]
SHORT = {
    "zero_shot": "zero-shot",
    "finetune": "finetune",
    "ours": "ours",
    "longer": "finetune, more steps",
    "zero": "ours, zero filled",
}
MEASURES = {
    ("synthetic", "odmap@1"): "ODmAP@1",
    ("rendered", "odmap@1"): "ODmAP@1, re-rendered",
    ("synthetic", "removed_named"): "removed object named",
    ("image_to_text", "r@1"): "R@1, image → text",
    ("text_to_image", "r@1"): "R@1, text → image",
    ("empty_image_to_text", "r@1"): "R@1, image → text, an empty box painted",
}
SUBSETS = {"all": "", "partner_remains": ", partner still there", "elsewhere": ", all other queries"}


def answer(row: Comparison, expected: Expected, level: float, margin: float) -> str:
    """One sentence: what this comparison shows.

    Args:
        row: of comparisons.json.
        expected: what would speak for the method.
        level: of significance.
        margin: difference in [0, 1] below which two values count as the same.
    """
    sign, size = shown(row, level), f"{100 * abs(row['difference']):.1f} points"
    if row["low"] is None:
        return "From one picture: nothing can be said."
    reaches = f"{100 * max(abs(row['low']), abs(row['high'])):.1f} points"
    if expected == "same":
        if -margin <= row["low"] and row["high"] <= margin:
            return f"Yes, within {100 * margin:g} points." if sign == 0 else f"Nearly: differs by only {size}."
        if sign:
            return f"No: it {'gains' if sign > 0 else 'loses'} {size}."
        return f"Not shown to differ, but the interval reaches {reaches}."
    if sign == 0:
        if expected != "open":
            return "Not shown: the difference may be chance."
        return f"No difference is shown; the interval reaches {reaches}."
    direction = f"{'Higher' if sign > 0 else 'Lower'} by {size}."
    if expected == "open":
        return direction
    return ("Yes. " if sign == (1 if expected == "more" else -1) else "No, the reverse. ") + direction


def side(row: Comparison, other: bool) -> str:
    """The row of the tables and the set that one side of a comparison is."""
    prefix = "other_" if other else ""
    name, kind = str(row[f"{prefix}variant"]), str(row[f"{prefix}set"])
    variant = SHORT.get(name, name)
    if row["set"] == row["other_set"]:
        return variant
    names = {
        "synthetic": "in-painted" if row["variant"] != "zero" else "zero boxes",
        "rendered": "re-rendered",
        "image_to_text": "original pictures",
        "empty_image_to_text": "empty box painted",
    }
    return f"{variant}, {names[kind]}"


def _gain_and_cost(results: Results) -> tuple[Comparison, Comparison] | None:
    """CLIP on COCO, ours against finetuning: ODmAP@1 of painted pictures, and R@1 of whole ones."""
    fields = {"dataset": "coco", "model": "clip", "variant": "ours", "other_variant": "finetune"}
    gain = results.comparison(**fields, set="synthetic", measure="odmap@1")
    cost = results.comparison(**fields, set="image_to_text", measure="r@1")
    return None if gain is None or cost is None else (gain, cost)


def verdict(results: Results, level: float, margin: float) -> str | None:
    """Whether the sample shows what it must: CLIP on COCO gains more than `margin`, at R@1 within `margin`."""
    compared = _gain_and_cost(results)
    if compared is None:
        return None
    gain, cost = compared
    there = gain["difference"] > margin and gain["p"] <= level
    kept = abs(cost["difference"]) <= margin
    seeds = min(gain["seeds"], gain["other_seeds"])
    text = "The effect is there: " if there and kept else "The effect is not there as it should be: "
    text += f"CLIP trained on D ∪ D′ has ODmAP@1 {points(gain['difference'])} points against finetuning on D "
    text += f"({'more' if gain['difference'] > margin else 'not more'} than {100 * margin:g}, "
    text += (
        f"{'' if gain['p'] <= level else 'not '}significant at {level:g}), and R@1 {points(cost['difference'])} points "
    )
    text += f"({'within' if kept else 'not within'} {100 * margin:g}); "
    return text + (f"means over {seeds} seeds and {gain['queries']} queries." if seeds > 1 else "one seed only.")


def first_claim_html(results: Results, level: float, margin: float) -> Markup:
    """What decorrelation's page begins with: whether training with painted pictures makes CLIP look.

    It holds where ODmAP@1 rises and R@1 of whole pictures stays within `margin`.
    """
    sentence = (
        "A model that was also trained on pictures with something painted out guesses less often what usually stands "
        "there, and is as good on whole pictures."
    )
    compared = _gain_and_cost(results)
    if compared is None:
        return not_asked_html(sentence)
    gain, cost = compared
    said = verdict_of(gain["difference"], gain["p"], level)
    if said == "holds" and abs(cost["difference"]) > margin:
        said = "does not hold"
    seen = (
        f"Where something was painted out, CLIP’s first sentence is about what is still there for "
        f"{100 * gain['value']:.1f} % of pictures, and for {100 * gain['other_value']:.1f} % after usual training "
        f"(p {probability(gain['p'])}). A caption of a whole picture comes first for {100 * cost['value']:.1f} % and "
        f"{100 * cost['other_value']:.1f} %. Trainings each: {gain['seeds']} and {gain['other_seeds']}; "
        f"{gain['queries']} queries."
    )
    return claim_html(sentence, said, seen)


def findings_html(results: Results, evaluate: Mapping[str, Any], level: float, margin: float, folder: Path) -> Markup:
    """The table of checks; what was not run says so.

    Args:
        results: of stage evaluate.
        evaluate: its parameters.
        level: of significance.
        margin: difference in [0, 1] below which two values count as the same.
        folder: of the metrics, see `notes`.
    """
    usual, rows = evaluate["partner_probability"], []
    for asked in checks(results.datasets):
        row, wanted = results.comparison(**asked.wanted), asked.wanted
        about = f"{model_label(wanted['model'])}, {DATASETS[wanted['dataset']]}: "
        about += MEASURES[wanted["set"], wanted["measure"]] + SUBSETS[wanted["subset"]]
        heading = Markup("{}{}").format(asked.question, small(about))
        if row is None:
            absent = Markup("not in this run; see <em>Thorough</em>, if below")
            rows.append([heading, Cell(absent, "absent", 6)])
            continue
        said = [
            Markup('<p class="small">{}</p>').format(note)
            for note in notes(results, asked, level=level, folder=folder, usual=usual)
        ]
        small_print = Markup('{}<span class="interval">{}</span>')
        difference = Markup(points(row["difference"]))
        if row["low"] is not None:
            difference = small_print.format(difference, f"[{points(row['low'])}, {points(row['high'])}]")
        seeds = Markup(_seeds(row))
        if row["difference_sd"] is not None:
            seeds = small_print.format(seeds, f"± {percent(row['difference_sd'])}")
        rows.append(
            [
                heading,
                Markup("{}{}").format(answer(row, asked.expected, level, margin), Markup().join(said)),
                Markup("{} <br>against {}").format(side(row, other=False), side(row, other=True)),
                small_print.format(percent(row["value"]), percent(row["other_value"])),
                difference,
                probability(row["p"]).removeprefix("= "),
                seeds,
            ]
        )
    columns = [
        "Question",
        Column("Answer", "left"),
        Column("compared", "left"),
        "values, %",
        "difference",
        "p",
        "seeds",
    ]
    caption = (
        f"Each line compares two values on the same queries. Difference in points with its "
        f"{percent(evaluate['confidence'], 0)} % bootstrap interval over pictures; p: paired randomization test by "
        "picture on means over seeds, not corrected for the number of lines. A difference counts as shown when p ≤ "
        f"{level} and the interval excludes 0; as the same within {100 * margin:g} points. Intervals do not hold what "
        "another training seed would change: where there is one seed, read them with that in mind."
    )
    return render(
        "decorrelation_findings.html",
        table=table(columns, rows, caption, style="checks"),
        verdict=verdict(results, level, margin),
        usual=usual,
    )


def _seeds(row: Comparison) -> str:
    if row["seeds"] == row["other_seeds"]:
        return "one seed" if row["seeds"] == 1 else f"{row['seeds']} seeds"
    return f"{row['seeds']} and {row['other_seeds']} seeds"
