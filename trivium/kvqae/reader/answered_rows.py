"""Choose the number of passages on validation, and answer the questions of every row (kvqae.md §5).

A reader encodes each (question, passage) pair once, for all its rows and all numbers of passages.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.core.atomic import write_folder
from trivium.core.engine import Engine
from trivium.core.errors import BadInput
from trivium.core.tables import write_table
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.inputs import ReadParameters, Selection, judge_listed, select_passages
from trivium.kvqae.reader.reading import (
    Answer,
    Pair,
    Reading,
    answer,
    load_reader,
    map_pairs,
    passage_weights,
    read_pairs,
)
from trivium.measures.answers import exact_match, f1
from trivium.measures.ranking import evaluate, means
from trivium.measures.runs import Run
from trivium.measures.significance import fisher_randomization

Values = Mapping[str, NDArray[np.float64]]  # em and f1, each (questions,)
CurvePoint = Mapping[str, Any]  # row, passages, em, f1
_INTEGERS = pa.list_(pa.int64())
_COLUMNS = ("prediction", "score", "passage", "start", "end")  # of an `Answer`
Seed = int | None  # None: a zero-shot reader, which has no seeds


def measure(selections: Sequence[Selection], answers: Sequence[Answer]) -> Values:
    """Compute exact match and F1 of every question, the best over its answers."""
    pairs = [(said.prediction, selection.question.answers) for selection, said in zip(selections, answers, strict=True)]
    return {
        "em": np.array([float(exact_match(*pair)) for pair in pairs]),
        "f1": np.array([f1(*pair) for pair in pairs]),
    }


def summarize(row: str, by_seed: Sequence[Values]) -> dict[str, float]:
    """Compute `{row}_f1` and `{row}_em`, means over questions and seeds, and, of several seeds, `…_sd` (n − 1)."""
    metrics = {}
    for name in ("f1", "em"):
        means = [float(values[name].mean()) for values in by_seed]
        metrics[f"{row}_{name}"] = float(np.mean(means))
        if len(means) > 1:
            metrics[f"{row}_{name}_sd"] = float(np.std(means, ddof=1))
    return metrics


def write_answers(
    folder: Path,
    per_query: Path,
    selections: Mapping[str, Sequence[Selection]],
    answers: Mapping[str, Mapping[Seed, Sequence[Answer]]],
    measured: Mapping[str, Mapping[Seed, Values]],
) -> None:
    """Write `{row}.parquet`, for each seed and question the answer, its place, and its scores; and all rows' scores.

    Further columns are all passages read, `passages`, and the characters of the best span of each, `starts` and `ends`.
    The table `per_query` has the columns row, seed, question, em, f1.
    """
    scores = []
    with write_folder(folder) as draft:
        for row, by_seed in answers.items():
            tables = [
                pa.table(
                    {
                        "id": [selection.question.id for selection in selections[row]],
                        "seed": pa.array([seed] * len(predictions), pa.int64()),
                        **{name: [getattr(predicted, name) for predicted in predictions] for name in _COLUMNS},
                        "passages": pa.array([selection.passages.tolist() for selection in selections[row]], _INTEGERS),
                        "starts": pa.array([[start for start, _ in one.spans] for one in predictions], _INTEGERS),
                        "ends": pa.array([[end for _, end in one.spans] for one in predictions], _INTEGERS),
                        **measured[row][seed],
                    }
                )
                for seed, predictions in by_seed.items()
            ]
            table = pa.concat_tables(tables)
            write_table(draft / f"{row}.parquet", table)
            table = table.select(["seed", "id", "em", "f1"]).rename_columns(["seed", "question", "em", "f1"])
            scores.append(table.add_column(0, "row", pa.array([row] * len(table), pa.string())))
    write_table(per_query, pa.concat_tables(scores))


_reader = lru_cache(maxsize=1)(load_reader)


def read_shard(
    shard: tuple[Sequence[Pair], PassageTexts], *, folder: Path, max_tokens: int, longest: int, batch: int
) -> list[Reading]:
    """Read a shard of `map_pairs`, in its order, with the reader in `folder`; see `read_pairs`."""
    reader = _reader(folder, max_tokens)
    return list(read_pairs(*reader, *shard, max_tokens=max_tokens, longest=longest, batch=batch).values())


def read_selections(
    folder: Path, selections: Iterable[Selection], texts: PassageTexts, parameters: ReadParameters, engine: Engine
) -> dict[Pair, Reading]:
    """Read every passage of these selections with the reader in `folder`, each pair once."""
    pairs = ((selection.question.text, passage) for selection in selections for passage in selection.passages.tolist())
    read = partial(
        read_shard,
        folder=folder,
        max_tokens=parameters.max_tokens,
        longest=parameters.answer_tokens,
        batch=parameters.batch,
    )
    try:
        return map_pairs(read, pairs, texts, parameters.batch, engine, "reading")
    finally:
        _reader.cache_clear()


def answer_all(selections: Sequence[Selection], readings: dict[Pair, Reading], *, weighted: bool) -> list[Answer]:
    """Answer every question from its selected passages; empty if nothing was selected."""
    answers = []
    for selection in selections:
        weights = passage_weights(selection.scores) if weighted and len(selection.scores) else None
        answers.append(answer(selection.question.text, selection.passages.tolist(), readings, weights))
    return answers


def sweep(
    selections: Mapping[int, Sequence[Selection]], readings: Sequence[dict[Pair, Reading]], *, weighted: bool
) -> tuple[int, list[CurvePoint]]:
    """Find the number of passages with the best exact match, the smallest of equals; returns also all points.

    `selections` are by number of passages; `readings` are one for each seed's reader.
    """
    curve: list[CurvePoint] = []
    for passages, selected in sorted(selections.items()):
        values = [measure(selected, answer_all(selected, of_seed, weighted=weighted)) for of_seed in readings]
        curve.append({"passages": passages, **{name: float(np.mean([v[name] for v in values])) for name in values[0]}})
    return int(max(curve, key=lambda point: point["em"])["passages"]), curve


def choose_passages(
    lists: Mapping[str, Run],
    validation: Sequence[Question],
    own: Mapping[str, NDArray[np.int64]],
    folders: Mapping[str, Mapping[Seed, Path]],
    texts: PassageTexts,
    parameters: ReadParameters,
    engine: Engine,
) -> tuple[dict[str, int], list[CurvePoint]]:
    """Choose each row's number of passages by `sweep` on its validation list; returns also the points of all rows.

    A reader reads each pair once for all its rows. `own` has the passages of articles for oracles; `texts` has the
    texts of all these passages.
    """
    questions = validation[: parameters.sweep_questions]
    tried: dict[str, dict[int, list[Selection]]] = {}
    for name, run in lists.items():
        run_of_row, oracle = run.select(question.id for question in questions), parameters.rows[name].oracle
        tried[name] = {
            number: select_passages(oracle, questions, run_of_row, texts, own, number)
            for number in parameters.sweep_passages
        }
    together = {name: list(chain.from_iterable(by_number.values())) for name, by_number in tried.items()}
    by_seed = defaultdict[str, list[dict[Pair, Reading]]](list)
    for name, _, readings in read_rows(together, folders, texts, parameters, engine):
        by_seed[name].append(readings)
    chosen: dict[str, int] = {}
    points: list[CurvePoint] = []
    for name, of_seeds in by_seed.items():
        chosen[name], curve = sweep(tried[name], of_seeds, weighted=parameters.rows[name].weighted)
        points += [{"row": name, **point} for point in curve]
    return chosen, points


def read_rows(
    selections: Mapping[str, Sequence[Selection]],
    folders: Mapping[str, Mapping[Seed, Path]],
    texts: PassageTexts,
    parameters: ReadParameters,
    engine: Engine,
) -> Iterator[tuple[str, Seed, dict[Pair, Reading]]]:
    """Yield the readings of every row's selections by seed; a reader reads each pair once for all its rows."""
    for model in dict.fromkeys(parameters.rows[name].model for name in selections):
        names = [name for name in selections if parameters.rows[name].model == model]
        together = [selection for name in names for selection in selections[name]]
        for seed, folder in folders[model].items():
            readings = read_selections(folder, together, texts, parameters, engine)
            yield from ((name, seed, readings) for name in names)


INITIAL_MEASURES = ("mrr", "precision@1")  # measures of the lists that rows about TriviaQA read


def measure_initial(run: Run, questions: Sequence[Question], texts: PassageTexts, *, prefix: str) -> dict[str, float]:
    """Compute `{prefix}_initial_mrr` and `{prefix}_initial_precision@1` of whole lists, in the questions' order.

    A passage is relevant if it contains an answer; a question without relevant passages counts 0.
    """
    qrels = judge_listed(questions, run, texts)
    return means(evaluate(run, qrels, INITIAL_MEASURES), f"{prefix}_initial")


def compare_rows(parameters: ReadParameters, measured: Mapping[str, Mapping[Seed, Values]]) -> dict[str, float]:
    """Compute `{row}_over_{row}_em_difference` and `…_p`, by Fisher's test on exact match averaged over seeds.

    `measured` has each question's values by row and seed.
    """
    metrics: dict[str, float] = {}
    for pair in parameters.compared:
        exact = [np.mean([values["em"] for values in measured[row].values()], axis=0) for row in pair]
        p = fisher_randomization(exact, permutations=parameters.permutations, seed=parameters.seed)
        name = "{}_over_{}_em".format(*pair)
        metrics |= {f"{name}_difference": float(exact[0].mean() - exact[1].mean()), f"{name}_p": float(p[0, 1])}
    return metrics


def check_rows(parameters: ReadParameters, runs: Collection[str], validation_runs: Collection[str]) -> None:
    """Check that all rows can be answered from the existing runs, given by name.

    `BadInput`: `compared` or `asked_row` names no row, or one that is not about ViQuAE, or a row's run is missing.
    """
    compared = [row for pair in parameters.compared for row in pair]
    for field, names in (("asked_row", [parameters.asked_row]), ("compared", compared)):
        for name in names:
            if name not in parameters.rows:
                raise BadInput("no such row", field=f"kvqae.read.{field}", got=name, choices=parameters.rows)
    for name, row in parameters.rows.items():
        if row.run not in runs:
            raise BadInput("no such run", field=f"kvqae.read.rows.{name}.run", got=row.run, choices=runs)
        if row.passages == "validation" and (row.questions != "viquae" or row.run not in validation_runs):
            raise BadInput(
                "no validation run about ViQuAE to choose the number of passages on",
                field=f"kvqae.read.rows.{name}.run", got=row.run, choices=validation_runs,
            )  # fmt: skip
    questions = {parameters.rows[name].questions for name in (*compared, parameters.asked_row)}
    if questions != {"viquae"}:
        raise BadInput("not a row about ViQuAE", field="kvqae.read.compared and asked_row", got=sorted(questions))
