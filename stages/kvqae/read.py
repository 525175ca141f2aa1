"""Answers of every row of Table 7: readers on retrieved passages, weighted or not, and on oracles' (kvqae.md §5–6).

A reader encodes each (question, passage) pair once; all rows and all numbers of passages draw on these readings.
"""

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from pydantic import Field

from stages.device import pick_device
from stages.kvqae.passage_texts import PassageTexts
from stages.kvqae.questions import read_questions
from stages.kvqae.reader_data import retrieved, texts_of
from stages.kvqae.reader_model import load_reader
from stages.kvqae.reader_rows import Row, Selection, passages_of_articles, select_passages
from stages.kvqae.reading import Answer, Pair, Reading, answer, passage_weights, read_pairs
from stages.measures.answers import exact_match, f1
from stages.measures.significance import fisher_randomization
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import write_atomically, write_table


class ReadParameters(Parameters):
    """Section `kvqae.read`."""

    rows: dict[str, Row] = Field(min_length=1, description="Rows of the table")
    seeds: tuple[int, ...] = Field(min_length=1, description="Of the few-shot readers")
    sweep_row: str = Field(description="Row on which the number of passages is chosen, on validation, by exact match")
    sweep_passages: tuple[int, ...] = Field(min_length=1, description="Numbers of passages tried")
    sweep_questions: int = Field(ge=1, description="Validation questions asked for it, from the first on")
    compared: tuple[str, str] = Field(description="Rows whose exact match Fisher's test compares")
    permutations: int = Field(ge=100, description="Sign vectors drawn by the test")
    max_tokens: int = Field(ge=8, le=512, description="Tokens of question and passage together")
    answer_tokens: int = Field(ge=1, description="Longest answer")
    batch: int = Field(ge=1, description="Pairs read together")
    seed: int = Field(ge=0, description="Of the test's draws")


def read_selections(
    folder: Path, selections: Iterable[Selection], texts: PassageTexts, parameters: ReadParameters
) -> dict[Pair, Reading]:
    """What the reader in `folder` finds in every passage of these selections, each pair read once."""
    pairs = dict.fromkeys((each.question.text, passage) for each in selections for passage in each.passages.tolist())
    model, tokenizer = load_reader(folder, parameters.max_tokens)
    return read_pairs(
        torch.nn.Module.to(model, pick_device()),
        tokenizer,
        list(pairs),
        texts,
        max_tokens=parameters.max_tokens,
        longest=parameters.answer_tokens,
        batch=parameters.batch,
    )


def answer_all(selections: Sequence[Selection], readings: dict[Pair, Reading], *, weighted: bool) -> list[Answer]:
    """The answer of every question from its selected passages; an empty one where nothing was selected."""
    return [
        answer(
            each.question.text,
            each.passages.tolist(),
            readings,
            passage_weights(each.scores) if weighted and len(each.scores) else None,
        )
        for each in selections
    ]


def measure(selections: Sequence[Selection], answers: Sequence[Answer]) -> dict[str, NDArray[np.float64]]:
    """Exact match and F1 of every question, each (questions,)."""
    pairs = [(given.prediction, each.question.answers) for each, given in zip(selections, answers, strict=True)]
    return {
        "em": np.array([float(exact_match(*pair)) for pair in pairs]),
        "f1": np.array([f1(*pair) for pair in pairs]),
    }


def sweep(
    selections: Mapping[int, Sequence[Selection]], readings: Sequence[dict[Pair, Reading]], *, weighted: bool
) -> tuple[int, list[dict[str, float]]]:
    """The number of passages with the best exact match, fewer at equality; and the curve.

    Args:
        selections: by number of passages.
        readings: of each seed's reader.
        weighted: as the row is.
    """
    curve: list[dict[str, float]] = []
    for passages, selected in sorted(selections.items()):
        values = [measure(selected, answer_all(selected, each, weighted=weighted)) for each in readings]
        curve.append({"passages": passages, **{name: float(np.mean([v[name] for v in values])) for name in values[0]}})
    return int(max(curve, key=lambda point: point["em"])["passages"]), curve


def _check(parameters: ReadParameters, runs: Collection[str]) -> None:
    for field, names in (("sweep_row", [parameters.sweep_row]), ("compared", parameters.compared)):
        for name in names:
            if name not in parameters.rows:
                raise BadInput("no such row", field=f"kvqae.read.{field}", got=name, choices=parameters.rows)
    for name, row in parameters.rows.items():
        if row.run not in runs:
            raise BadInput("no such run", field=f"kvqae.read.rows.{name}.run", got=row.run, choices=runs)
    questions = {parameters.rows[name].questions for name in (*parameters.compared, parameters.sweep_row)}
    if questions != {"viquae"}:
        raise BadInput("not a row about ViQuAE", field="kvqae.read.compared and sweep_row", got=sorted(questions))


def main(
    parameters: ReadParameters,
    context: Context,
    *,
    passages: Path,
    articles: Path,
    viquae: Path,
    triviaqa: Path,
    zero_shot: Path,
    few_shot: Path,
    runs: Sequence[Path],
    validation_run: Path,
    out: Path,
    out_curve: Path,
    out_per_query: Path,
) -> dict[str, float]:
    """Choose the number of passages on validation, then answer the test questions of every row.

    `few_shot` holds a folder `seed-N` a seed; a run of the test split is named as its folder; `validation_run` is that
    of the sweep's row.
    """
    test_runs = {path.parent.name: path for path in runs}
    _check(parameters, test_runs)
    readers: dict[str, dict[int | None, Path]] = {
        "zero_shot": {None: zero_shot},
        "few_shot": {seed: few_shot / f"seed-{seed}" for seed in parameters.seeds},
    }
    test = {"viquae": read_questions(viquae / "test.jsonl"), "triviaqa": read_questions(triviaqa / "test.jsonl")}
    fixed = [row.passages for row in parameters.rows.values() if isinstance(row.passages, int)]
    depth = max([*parameters.sweep_passages, *fixed])
    lists = {name: retrieved(test_runs[row.run], test[row.questions], depth) for name, row in parameters.rows.items()}
    validation = read_questions(viquae / "validation.jsonl")
    swept_list = retrieved(validation_run, validation, depth)
    validation = validation[: parameters.sweep_questions]
    swept_list = swept_list.select(question.id for question in validation)
    subjects = {each.wikipedia_id for each in (*validation, *test["viquae"]) if each.wikipedia_id is not None}
    own = passages_of_articles(passages, articles, subjects)
    every_list = [run.documents for run in (swept_list, *lists.values())]
    texts = texts_of(passages, articles, *every_list, *own.values())

    swept = parameters.rows[parameters.sweep_row]
    tried = {
        number: select_passages(swept, validation, swept_list, texts, own, number)
        for number in parameters.sweep_passages
    }
    everything = [each for selected in tried.values() for each in selected]
    seen = [read_selections(folder, everything, texts, parameters) for folder in readers[swept.model].values()]
    best, curve = sweep(tried, seen, weighted=swept.weighted)
    for point in curve:
        context.tracker.log(int(point["passages"]), sweep_em=point["em"], sweep_f1=point["f1"])

    selections = {
        name: select_passages(
            row,
            test[row.questions],
            lists[name],
            texts,
            own,
            best if row.passages == "validation" else row.passages,
        )
        for name, row in parameters.rows.items()
    }
    answers: dict[str, dict[int | None, list[Answer]]] = {name: {} for name in parameters.rows}
    for model, folders in readers.items():
        rows = {name: row for name, row in parameters.rows.items() if row.model == model}
        for seed, folder in folders.items() if rows else ():
            readings = read_selections(folder, [each for name in rows for each in selections[name]], texts, parameters)
            for name, row in rows.items():
                answers[name][seed] = answer_all(selections[name], readings, weighted=row.weighted)
    return _write(parameters, selections, answers, best, curve, out, out_curve, out_per_query)


def _write(
    parameters: ReadParameters,
    selections: Mapping[str, Sequence[Selection]],
    answers: Mapping[str, Mapping[int | None, Sequence[Answer]]],
    best: int,
    curve: Sequence[dict[str, float]],
    out: Path,
    out_curve: Path,
    out_per_query: Path,
) -> dict[str, float]:
    metrics: dict[str, float] = {"passages": best}
    metrics |= {f"validation_em@{point['passages']}": point["em"] for point in curve}
    exact, per_query = {}, []
    with write_atomically(out) as beside:
        beside.mkdir()
        for name, by_seed in answers.items():
            tables, means = [], []
            for seed, given in by_seed.items():
                values = measure(selections[name], given)
                tables.append(_table(selections[name], given, values, seed))
                means.append({measured: float(value.mean()) for measured, value in values.items()})
            table = pa.concat_tables(tables)
            write_table(beside / f"{name}.parquet", table)
            per_query.append(table.select(["id", "seed", "em", "f1"]).add_column(0, "row", [[name] * len(table)]))
            exact[name] = table["em"].to_numpy().reshape(len(by_seed), -1).mean(axis=0)
            for measured in ("f1", "em"):
                seeds = [mean[measured] for mean in means]
                metrics[f"{name}_{measured}"] = float(np.mean(seeds))
                if len(seeds) > 1:
                    metrics[f"{name}_{measured}_sd"] = float(np.std(seeds, ddof=1))
            metrics[f"{name}_questions_without_passage"] = sum(not len(each.passages) for each in selections[name])
    first, second = parameters.compared
    p = fisher_randomization([exact[first], exact[second]], permutations=parameters.permutations, seed=parameters.seed)
    metrics[f"{first}_over_{second}_em_p"] = float(p[0, 1])
    write_table(out_per_query, pa.concat_tables(per_query))
    with write_atomically(out_curve) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(curve[0]))
        writer.writeheader()
        writer.writerows(curve)
    return metrics


def _table(
    selections: Sequence[Selection],
    answers: Sequence[Answer],
    values: Mapping[str, NDArray[np.float64]],
    seed: int | None,
) -> pa.Table:
    return pa.table(
        {
            "id": [each.question.id for each in selections],
            "seed": pa.array([seed] * len(answers), pa.int64()),
            "prediction": [each.prediction for each in answers],
            "score": [each.score for each in answers],
            "passage": [each.passage for each in answers],
            "start": [each.start for each in answers],
            "end": [each.end for each in answers],
            **values,
        }
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.read", ReadParameters)
