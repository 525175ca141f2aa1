"""The files that `trivium odmap` writes: the leaderboard as a page, CSV and JSON."""

from pathlib import Path
from typing import Any

from trivium.core.atomic import write_text
from trivium.core.parameters import read_beside
from trivium.core.tables import write_csv, write_json, write_json_lines
from trivium.decorrelation.benchmark.answers import (
    GROUPED,
    MEASURES,
    PAIRS,
    STILL_NAMED,
    TESTED,
    TO_IMAGE,
    TO_TEXT,
    by_stratum,
    query_rows,
)
from trivium.decorrelation.benchmark.benchmark_set import LEAST_SHARE
from trivium.decorrelation.benchmark.leaderboard import BoardRow, Leaderboard
from trivium.decorrelation.evaluation.answers import CUTOFFS, ODMAP
from trivium.page.figures import draw_estimates
from trivium.page.html import render

_SAID = read_beside(__file__, "doors.yaml")["leaderboard"]
FILES: dict[str, str] = _SAID["files"]
_FIRST = dict(zip((*(f"ODmAP@{k}" for k in CUTOFFS), "ODmAP@1, tested", "still named", "pairs"),
                  (*ODMAP, TESTED, STILL_NAMED, PAIRS[2]), strict=True))  # fmt: skip
_PAIRED = dict(zip(("whole picture", "painted picture", "both"), PAIRS, strict=True))
_BY_PART = dict(zip(("ODmAP@1", "still named", *_PAIRED), GROUPED, strict=True))
_PLACES = ("model", "source", "odmap_rank", "recall_rank", "looks")


def write_leaderboard(board: Leaderboard, folder: str | Path) -> None:
    """Write FILES into a folder, which may exist and hold other files."""
    folder, benchmark = Path(folder), board.benchmark
    origin = {"dataset": benchmark.dataset, "filling": benchmark.filling, "set": benchmark.fingerprint}
    rows = [_values(row) | origin for row in board.rows]
    strata = list(by_stratum(benchmark, board.scores))
    page = leaderboard_html(board)
    tree = {
        **origin,
        "chance": dict(board.chance),
        "correlation": board.correlation,
        "strata": strata,
        "models": [values | {"notes": list(row.notes)} for values, row in zip(rows, board.rows, strict=True)],
        "captioners": [
            {"captioner": name, "chair_i": scores.chair_i, "chair_s": scores.chair_s,
             "mentions": int(scores.mentions.sum()), "still_named": float(scores.still_named.mean()),
             "intervals": scores.intervals, "captions": list(scores.texts)}
            for name, scores in board.captioners.items()
        ],
        "vlms": [
            {"model": name, "asked": scores.questions, "unreadable": scores.unreadable, **scores.pope,
             "yes": {kind: {"questions": len(scores.yes[kind]), "rate": scores.rate(kind),
                            "interval": scores.intervals[kind]} for kind in scores.yes}}
            for name, scores in board.vlms.items()
        ],
        "failed": dict(board.failed),
    }  # fmt: skip
    ends = [f"{measure}{end}" for measure in (*MEASURES, "behind") for end in ("", "_low", "_high")]
    write_csv(folder / "leaderboard.csv", (*_PLACES, *ends, "notes", *origin), rows)
    write_json(folder / "leaderboard.json", tree)
    write_csv(folder / "strata.csv", ("stratum", "group", "queries", "model", *GROUPED), strata)
    write_json_lines(folder / "queries.jsonl", query_rows(benchmark, board.scores))
    write_text(folder / "index.html", page)


def _values(row: BoardRow) -> dict[str, Any]:
    """A row of the CSV file, in its columns but for those of the set."""
    values: dict[str, Any] = {name: getattr(row, name) for name in _PLACES}
    cells: dict[str, Any] = {name: (row.scores.mean(name), row.scores.intervals[name]) for name in MEASURES}
    for name, (value, bounds) in (cells | {"behind": row.behind or (None, None)}).items():
        low, high = bounds or (None, None)
        values |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return values | {"notes": " ".join(row.notes)}


def leaderboard_html(board: Leaderboard) -> str:
    """The page, one self-contained file."""
    benchmark = board.benchmark
    series: dict[str, list[Any]] = {"ODmAP@1": [], "R@1, image → text": []}
    for points, measure in zip(series.values(), (ODMAP[0], TO_TEXT[0]), strict=True):
        for row in board.rows:
            mean = float(row.scores.values[measure].mean())
            low, high = row.scores.intervals[measure] or (mean, mean)
            points.append((100 * mean, 100 * low, 100 * high))
    title = "ODmAP@1 and R@1 of every model with their intervals"
    ways = {"image → text": TO_TEXT, "text → image": TO_IMAGE}
    strata: dict[tuple[str, str, int], dict[str, Any]] = {}
    for means in by_stratum(benchmark, board.scores):
        strata.setdefault((means["stratum"], means["group"], means["queries"]), {})[means["model"]] = means
    return render(
        "leaderboard.html", command="odmap", files=FILES, board=board, benchmark=benchmark, first=_FIRST,
        paired=_PAIRED, shown_by_part=_BY_PART, least=LEAST_SHARE, kinds=_SAID["kinds"], pope=_SAID["pope"],
        strata={part: by_model for part, by_model in strata.items() if part[0] != "class"},
        classes={part: by_model for part, by_model in strata.items() if part[0] == "class"},
        tested=int(benchmark.tests_something().sum()),
        recall={f"{way} R@{k}": name for way, names in ways.items() for k, name in zip(CUTOFFS, names, strict=True)},
        pictures=len(set(benchmark.queries.pictures.tolist())),
        drawn=board.rows and draw_estimates([row.model for row in board.rows], series, title=title, xlabel="%"),
    )  # fmt: skip
