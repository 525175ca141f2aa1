"""What `trivium odmap` writes: the leaderboard as a page, CSV, Markdown and JSON."""

import re
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from trivium.core.atomic import write_atomically
from trivium.core.csv_tables import write_csv
from trivium.core.tables import write_json
from trivium.decorrelation.benchmark.leaderboard import BoardRow, Leaderboard
from trivium.decorrelation.benchmark.positives import MEASURES as POSITIVE_MEASURES
from trivium.decorrelation.benchmark.positives import SETS
from trivium.decorrelation.benchmark.scores import STILL_NAMED, TO_IMAGE, TO_TEXT, measures_of
from trivium.decorrelation.evaluation.answers import CUTOFFS, ODMAP
from trivium.page.figures import forest
from trivium.page.html import render

FILES = {
    "index.html": "the page",
    "leaderboard.csv": "a line a model",
    "leaderboard.md": "the table as Markdown",
    "leaderboard.json": "all numbers",
}
_PLACES = ("model", "source", "odmap_rank", "recall_rank", "looks")
_SET = ("dataset", "filling", "split", "queries", "positives")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def columns(board: Leaderboard) -> tuple[str, ...]:
    """Of the table."""
    measured = (f"{measure}{end}" for measure in measures_of(board.asked) for end in ("", "_low", "_high"))
    return (*_PLACES, *measured, "behind", "behind_low", "behind_high", "notes", *_SET)


def write_leaderboard(board: Leaderboard, folder: str | Path) -> None:
    """Write FILES into a folder, which may hold other things too; made where there is none."""
    folder = Path(folder)
    rows = [_values(board, row) for row in board.rows]
    page, table = leaderboard_html(board), leaderboard_markdown(board)
    tree = {
        **_set(board),
        "chance": dict(board.chance),
        "models": [row | {"notes": list(each.notes)} for row, each in zip(rows, board.rows, strict=True)],
        "captioners": [
            {"captioner": name, "chair_i": each.chair_i, "chair_s": each.chair_s, "mentions": int(each.mentions.sum()),
             "still_named": float(each.still_named.mean()), "intervals": each.intervals, "captions": list(each.texts)}
            for name, each in board.captioners.items()
        ],
        "failed": dict(board.failed),
    }  # fmt: skip
    write_csv(folder / "leaderboard.csv", columns(board), rows)
    write_json(folder / "leaderboard.json", tree)
    for name, text in (("leaderboard.md", table), ("index.html", page)):
        with write_atomically(folder / name) as beside:
            beside.write_text(text, "utf-8")


def _set(board: Leaderboard) -> dict[str, Any]:
    asked = board.asked
    brought = asked.positives.digest if asked.positives else None
    return dict(zip(_SET, (asked.dataset, asked.filling, asked.split, asked.asked, brought), strict=True))


def _values(board: Leaderboard, row: BoardRow) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(row, name) for name in _PLACES}
    for measure in measures_of(board.asked):
        low, high = row.scores.intervals[measure] or (None, None)
        values |= {measure: row.scores.mean(measure), f"{measure}_low": low, f"{measure}_high": high}
    difference, bounds = row.behind or (None, None)
    low, high = bounds or (None, None)
    values |= {"behind": difference, "behind_low": low, "behind_high": high, "notes": " ".join(row.notes)}
    return values | _set(board)


def leaderboard_markdown(board: Leaderboard) -> str:
    """A table in percent, and what belongs to it."""
    heading = ["Model", *(f"ODmAP@{k}" for k in CUTOFFS), "still named", "R@1 i→t", "R@1 t→i", "rank", "by R@1"]
    lines = [f"| {' | '.join(heading)} |", f"|---|{'---:|' * (len(heading) - 1)}"]
    for row in board.rows:
        first = row.scores.intervals[ODMAP[0]]
        figures = [_percent(row, name) for name in (*ODMAP, STILL_NAMED, TO_TEXT[0], TO_IMAGE[0])]
        if first is not None:
            figures[0] += f" [{100 * first[0]:.1f}, {100 * first[1]:.1f}]"
        cells = [_plain(row.model), *figures, str(row.odmap_rank), str(row.recall_rank)]
        lines.append(f"| {' | '.join(cells)} |")
    luck = [f"{100 * board.chance[name]:.1f}" for name in ODMAP]
    lines.append(f"| *random order* | {' | '.join(luck)} |{' |' * 5}")
    asked = board.asked
    lines += ["", f"Data set {asked.dataset}, queries painted by {asked.filling}, {len(asked.queries.ids)} queries.",
              f"Split `{asked.split}`, queries `{asked.asked}`."]  # fmt: skip
    if asked.positives is not None:
        lines += ["", *_extended_markdown(board), ""]
    if board.captioners:
        lines += ["", "| Captioner | CHAIR_i | CHAIR_s | still named |", "|---|---:|---:|---:|"]
        lines += [
            f"| {_plain(name)} | {'–' if each.chair_i is None else f'{100 * each.chair_i:.1f}'} | "
            f"{100 * each.chair_s:.1f} | {100 * each.still_named.mean():.1f} |"
            for name, each in board.captioners.items()
        ]
        lines.append("")
    if asked.invented:
        lines.append("The pictures are invented.")
    lines += [f"- {_plain(row.model)}: {note}" for row in board.rows for note in row.notes]
    lines += [f"- {_plain(name)} was not asked: {_plain(why)}" for name, why in board.failed.items()]
    return "\n".join(lines) + "\n"


def extended(board: Leaderboard) -> list[tuple[str, str]]:
    """(heading, measure) of what was found with right answers that somebody brought."""
    ways = {"image_to_text": "i→t", "text_to_image": "t→i"}
    shown = {"map@r": "mAP@R", "r_precision": "R-Precision"}
    found = []
    for name in board.asked.positives.answers if board.asked.positives else ():
        for way, arrow in ways.items():
            for measure in POSITIVE_MEASURES[name]:
                heading = f"{SETS[name]} {shown.get(measure, measure.upper())} {arrow}"
                found.append((heading, f"{name}_{way}_{measure}"))
    return found


def _extended_markdown(board: Leaderboard) -> list[str]:
    found = extended(board)
    lines = [f"| Model | {' | '.join(heading for heading, _ in found)} |", f"|---|{'---:|' * len(found)}"]
    lines += [
        f"| {_plain(row.model)} | {' | '.join(_percent(row, measure) for _, measure in found)} |" for row in board.rows
    ]
    brought = board.asked.positives.digest if board.asked.positives else ""
    return [*lines, "", f"Right answers `{brought}`."]


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _percent(row: BoardRow, measure: str) -> str:
    return f"{100 * row.scores.mean(measure):.1f}"


def leaderboard_html(board: Leaderboard) -> str:
    """The page, one self-contained file."""
    style = (resources.files("trivium.page") / "templates" / "style.css").read_text(encoding="utf-8")
    return render(
        "leaderboard.html",
        board=board,
        asked=board.asked,
        style=Markup(style),
        odmap=ODMAP,
        still_named=STILL_NAMED,
        recall=[("image → text", TO_TEXT), ("text → image", TO_IMAGE)],
        extended=extended(board),
        cutoffs=CUTOFFS,
        pictures=len(set(board.asked.queries.pictures.tolist())),
        figure=Markup(_figure(board)),
        files=FILES,
    )


def _figure(board: Leaderboard) -> str:
    series: dict[str, list[tuple[float, float, float] | None]] = {}
    for entry, measure in (("ODmAP@1", ODMAP[0]), ("R@1, image → text", TO_TEXT[0])):
        series[entry] = []
        for row in board.rows:
            mean = row.scores.mean(measure)
            low, high = row.scores.intervals[measure] or (mean, mean)
            series[entry].append((100 * mean, 100 * low, 100 * high))
    names = [row.model for row in board.rows]
    return forest(names, series, title="ODmAP@1 and R@1 of every model with their intervals", xlabel="%")
