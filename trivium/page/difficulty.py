"""Output of `trivium difficulty`: the page of one question set, and the same as CSV, JSON and py-irt's lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from trivium.complexity.difficulty.comparison import COMPARISON_COLUMNS, Comparison
from trivium.complexity.difficulty.effects import DIFFICULTY_COLUMNS, UNKNOWN
from trivium.complexity.difficulty.partitions import PARTITIONS
from trivium.complexity.difficulty.result import LEAST_MODELS, Difficulty, right_answers
from trivium.complexity.difficulty.scores import BASELINES
from trivium.complexity.effects.analysis import Row
from trivium.complexity.factors.free_factors import MADE_OF_OVERLAP
from trivium.complexity.judging import RIGHT
from trivium.core.atomic import write_text
from trivium.core.errors import BadInput
from trivium.core.parameters import read_beside
from trivium.core.tables import write_csv, write_json, write_json_lines
from trivium.measures.effects import NO, YES
from trivium.page.figures import draw_estimates, estimates_of
from trivium.page.html import render

_SAID = read_beside(__file__, "doors.yaml")["difficulty"]
FILES: dict[str, str] = _SAID["files"]
JUDGES: dict[str, str] = _SAID["judges"]
_SHOWN = 8  # examples on either side
_AROUND = 220  # characters of the context on either side of an answer
_LONGEST = 300  # characters of an answer
_IRT = ("irt_difficulty", "irt_error", "irt2_difficulty", "irt2_discrimination", "irt2_information")  # columns


def write_difficulty(
    result: Difficulty, folder: str | Path, *, title: str = "Question set", comparison: Comparison | None = None,
    partitions: Sequence[Mapping[str, Any]] = (),
) -> None:  # fmt: skip
    """Write FILES into a folder, which may hold other things too, or is made; `BadInput` where a file is there.

    `comparison`, of `compare_models`, makes a section, `comparison.csv` and a part of the JSON; `partitions`, of
    `write_partitions`, a section and a part of the JSON.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise BadInput("not a folder", file=folder, got="a file", expected="a folder, or nothing there")
    write_csv(folder / "effects.csv", DIFFICULTY_COLUMNS, result.rows)
    write_csv(folder / "questions.csv", *_question_table(result))
    tree = _as_json(result, title)
    if comparison is not None:
        write_csv(folder / "comparison.csv", COMPARISON_COLUMNS, comparison.rows)
        tree["comparison"] = {**asdict(comparison), "says": str(comparison)}
    if partitions:
        tree[PARTITIONS] = list(partitions)
    write_json(folder / "difficulty.json", _finite(tree))
    write_json_lines(folder / "responses.jsonlines", _responses(result))
    write_text(folder / "index.html", difficulty_html(result, title, comparison, partitions))


def _responses(result: Difficulty) -> Iterator[dict[str, Any]]:
    """The lines of py-irt's file: by model 1 or 0 a question; a missing answer is left out."""
    correct = right_answers(result.scores).astype(int)
    for model, right, missing in zip(result.models, correct, result.missing, strict=True):
        responses = zip(result.questions, right.tolist(), missing.tolist(), strict=True)
        answered = {question.id: value for question, value, is_missing in responses if not is_missing}
        yield {"subject_id": model, "responses": answered}


def _question_table(result: Difficulty) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of `questions.csv`; a model's name that is ours, or another's, gets `model_` before it."""
    numbers: list[tuple[str, NDArray[Any]]] = [*result.factors.properties.items(), *result.factors.codes.items()]
    if (one := result.irt) is not None and (two := result.two_parameters) is not None:
        silent = result.missing.all(axis=0)  # nobody answered: nothing is known of how hard these are
        fitted = one.difficulty, one.error, two.difficulty, two.discrimination, two.information
        numbers += [(name, np.where(silent, np.nan, values)) for name, values in zip(_IRT, fitted, strict=True)]
    columns = ["id", "title", "question", "reference", *(name for name, _ in numbers)]
    for name in (*result.models, *(f"{training}_prediction" for training in result.answers)):
        while name in columns:
            name = f"model_{name}"
        columns.append(name)
    numbers += result.scores[result.settings.judge].items()
    values = np.stack([np.asarray(column, dtype=np.float64) for _, column in numbers], axis=1).tolist()
    rows = []
    for question, row, *answers in zip(result.questions, values, *result.answers.values(), strict=True):
        texts = (question.id, question.title, question.question, " | ".join(dict.fromkeys(question.answers)))
        rows.append([*texts, *(None if value != value else f"{value:.6g}" for value in row), *answers])
    return columns, rows


def _as_json(result: Difficulty, title: str) -> dict[str, Any]:
    """Collect everything but the questions."""
    tree: dict[str, Any] = {
        "title": title,
        "form": result.question_set.form,
        "language": result.language.code,
        "settings": result.settings.model_dump(),
        "notes": list(result.notes),
        "clusters": {"unit": result.unit, "number": int(result.clusters.max()) + 1},
        "models": {model: result.of_model(model) for model in result.models},
        "baselines": {name: float(values.mean()) for name, values in result.baselines.items()},
        "factors": {
            name: {"says": result.factors.labels[name], "yes": int((codes == YES).sum()),
                   "no": int((codes == NO).sum()), "cut": result.factors.cuts.get(name)}
            for name, codes in result.factors.codes.items()
        },
        "effects": result.rows,
        "metrics": result.metrics,
    }  # fmt: skip
    if result.agreement is not None:
        spearman = result.agreement.spearman.tolist()
        tree["agreement"] = {"concordance": result.agreement.concordance, "spearman": spearman}
    for name, irt in (("irt", result.irt), ("irt2", result.two_parameters)):
        if irt is not None:
            abilities = dict(zip(result.models, irt.ability.tolist(), strict=True))
            tree[name] = {"ability": abilities, "spread": irt.spread}
    if (two := result.two_parameters) is not None:
        tree["irt2"] |= {"discrimination_spread": two.discrimination_spread, "p": result.discrimination_p}
    if result.verdicts is not None:
        judges = {name: kappa._asdict() for name, kappa in result.kappas.items()}
        tree["people"] = {**result.verdicts.counts, "judges": judges}
    return tree


def _finite(value: Any) -> Any:
    """Replace each number that is not finite by None."""
    if isinstance(value, Mapping):
        return {key: _finite(of) for key, of in value.items()}
    if isinstance(value, list):
        return [_finite(of) for of in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def difficulty_html(
    result: Difficulty, title: str, comparison: Comparison | None = None, partitions: Sequence[Mapping[str, Any]] = ()
) -> str:
    """The page, one self-contained file."""
    files = FILES | ({"comparison.csv": "a line a factor: two models compared"} if comparison else {})
    files |= {f"{PARTITIONS}.csv": "a line a part and model; the parts lie in partitions/"} if partitions else {}
    by_model = {model: [row for row in result.rows if row["model"] == model] for model in result.models}
    matrix, agreed = None, result.agreement
    means = agreed.means() if agreed is not None else {}
    if agreed is not None:
        pairs = zip(_finite(agreed.spearman.tolist()), _finite(agreed.overlap.tolist()), strict=True)
        matrix = [
            [{"spearman": rho, "hardest_overlap": share} for rho, share in zip(*row, strict=True)] for row in pairs
        ]
    ends = {name: _ends(result, sign) for name, sign in (("Hardest", 1), ("Easiest", -1))}
    return render(
        "difficulty.html", command="difficulty", files=files, comparison=comparison, parts=_parts(partitions),
        title=title, result=result, judges=JUDGES, judge=JUDGES[result.settings.judge], labels=result.factors.labels,
        baselines=BASELINES, by_model=by_model, least_models=LEAST_MODELS, matrix=matrix, right=RIGHT,
        measures={"em" if name == "exact_match" else name: JUDGES[name] for name in result.scores},
        means={name: of for name, of in means.items() if not np.isnan(of)},
        findings=[(row, _source(row)) for row in result.worse],
        margin=f"{100 * result.settings.margin:.0f} % of the model’s loss",
        forests={model: _forest(model, rows, result) for model, rows in by_model.items()},
        examples={name: [_example(result, place) for place in places] for name, places in ends.items()},
    )  # fmt: skip


def _parts(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, list[float]]]:
    """Name, size, and scores of the models and their mean, for each part."""
    return [
        (name, own[0]["examples"], [row["score"] for row in own])
        for name, group in groupby(rows, key=lambda row: row["partition"])
        if (own := list(group))
    ]


def _source(row: Row) -> str:
    """A sentence on where a loss comes from."""
    source = row["comes_from"]
    if source == UNKNOWN and row["factor"] in MADE_OF_OVERLAP:
        source = "made of overlap"
    return str(_SAID["sources"][source]).format(f"{row['margin']:.2g} points")


def _forest(model: str, rows: Sequence[Row], result: Difficulty) -> Markup:
    series = {"model": estimates_of(rows, "delta", "low", "high")}
    series |= {name.replace("_", " "): estimates_of(rows, name, name, name) for name in BASELINES}
    title = f"What each factor does to {model}, to random spans and to the sentence of most shared words"
    factors, xlabel = [name.replace("_", " ") for name in result.factors.codes], JUDGES[result.settings.judge]
    return draw_estimates(factors, series, title=title, xlabel=f"δ, points of {xlabel}")


def _ends(result: Difficulty, sign: int) -> list[int]:
    """Questions of the lowest `sign` · mean score over the models, one an article or context; ties are at random."""
    means = sign * np.mean(list(result.scores[result.settings.judge].values()), axis=0)
    order: NDArray[np.int64] = np.random.default_rng(result.settings.seed).permutation(len(means))
    order = order[np.argsort(means[order], kind="stable")]
    chosen: dict[int, int] = {}
    for place in order.tolist():
        chosen.setdefault(int(result.clusters[place]), place)
        if len(chosen) == _SHOWN:
            break
    return list(chosen.values())


def _example(result: Difficulty, place: int) -> dict[str, Any]:
    """A question with the text about its answer, and what every model answered."""
    judge, question = result.settings.judge, result.questions[place]
    of_training, context, at = result.of_training[judge].items(), question.context, question.place
    pieces = (_clipped(context, 2 * _AROUND), "", "")
    if at is not None:
        before = ("… " if at.start > _AROUND else "") + context[max(0, at.start - _AROUND) : at.start]
        pieces = before, at.of(context), _clipped(context[at.end :], _AROUND)
    mean = float(np.mean([values[place] for values in result.scores[judge].values()]))
    answers = [(name, _clipped(result.answers[name][place], _LONGEST), of[place]) for name, of in of_training]
    return {"question": question, "place": place, "pieces": pieces, "mean": mean, "answers": answers}


def _clipped(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]} …"
