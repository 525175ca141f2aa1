"""Stage `kvqae-read`. Table 7: every reader on every list of passages."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from trivium.errors import BadInput
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run_over
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.knowledge_base.article_passages import passages_of_articles
from trivium.kvqae.reader.answered_rows import answer_rows, choose_passages
from trivium.kvqae.reader.answers import Seed, Values, measure, summarize, write_answers, write_curve, write_per_query
from trivium.kvqae.reader.inputs import retrieved, texts_of
from trivium.kvqae.reader.rows import select_passages
from trivium.kvqae.reader.table7 import ReadParameters, measure_initial
from trivium.measures.significance import fisher_randomization


def _compare(parameters: ReadParameters, measured: Mapping[str, Mapping[Seed, Values]]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for pair in parameters.compared:
        exact = [np.mean([values["em"] for values in measured[row].values()], axis=0) for row in pair]
        p = fisher_randomization(exact, permutations=parameters.permutations, seed=parameters.seed)
        name = "{}_over_{}_em".format(*pair)
        metrics |= {f"{name}_difference": float(exact[0].mean() - exact[1].mean()), f"{name}_p": float(p[0, 1])}
    return metrics


def _check(parameters: ReadParameters, runs: Collection[str], validation_runs: Collection[str]) -> None:
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
    few_shot_max: Path,
    runs: Sequence[Path],
    validation_runs: Sequence[Path],
    out: Path,
    out_curve: Path,
    out_per_query: Path,
) -> dict[str, float]:
    """Choose numbers of passages on validation, then answer the test questions of every row.

    `few_shot` and `few_shot_max` hold a folder `seed-N` a seed; a run is named as its folder. The lists of BM25 that
    rows about TriviaQA read are measured under the first such row's name.
    """
    test_runs = {path.parent.name: path for path in runs}
    tuning_runs = {path.parent.name: path for path in validation_runs}
    _check(parameters, test_runs, tuning_runs)
    folders: dict[str, dict[Seed, Path]] = {
        "zero_shot": {None: zero_shot},
        **{
            name: {seed: folder / f"seed-{seed}" for seed in parameters.seeds}
            for name, folder in (("few_shot", few_shot), ("few_shot_max", few_shot_max))
        },
    }
    asked = {"viquae": read_questions(viquae / "test.jsonl"), "triviaqa": read_questions(triviaqa / "test.jsonl")}
    validation = read_questions(viquae / "validation.jsonl")
    rows = parameters.rows
    depth = max([*parameters.sweep_passages, *(row.passages for row in rows.values() if isinstance(row.passages, int))])
    lists = {name: retrieved(test_runs[row.run], asked[row.questions], depth) for name, row in rows.items()}
    swept = {
        name: retrieved(tuning_runs[row.run], validation, depth)
        for name, row in rows.items()
        if row.passages == "validation"
    }
    first_reader = {row.run: name for name, row in reversed(rows.items()) if row.questions == "triviaqa"}
    trivia_ids = [question.id for question in asked["triviaqa"]]
    initial = {name: read_run_over(test_runs[run], trivia_ids) for run, name in first_reader.items()}
    subjects = {each.wikipedia_id for each in (*validation, *asked["viquae"]) if each.wikipedia_id is not None}
    own = passages_of_articles(passages, articles, subjects)
    read_lists = [run.documents for run in (*swept.values(), *lists.values(), *initial.values())]
    texts = texts_of(passages, articles, *read_lists, *own.values())

    chosen, points = choose_passages(swept, validation, own, folders, texts, parameters)
    for point in points:
        name = point["row"]
        context.tracker.log(point["passages"], **{f"{name}_sweep_em": point["em"], f"{name}_sweep_f1": point["f1"]})

    selections = {}
    for name, row in rows.items():
        number = chosen[name] if row.passages == "validation" else row.passages
        selections[name] = select_passages(row, asked[row.questions], lists[name], texts, own, number)
    answers = answer_rows(rows, selections, folders, texts, parameters)
    measured = {
        name: {seed: measure(selections[name], given) for seed, given in by_seed.items()}
        for name, by_seed in answers.items()
    }
    write_answers(out, selections, answers, measured)
    write_per_query(out_per_query, selections, measured)
    write_curve(out_curve, points)
    metrics: dict[str, float] = {f"{name}_passages": number for name, number in chosen.items()}
    metrics |= {f"{point['row']}_validation_em@{point['passages']}": point["em"] for point in points}
    for name, by_seed in measured.items():
        metrics |= summarize(name, list(by_seed.values()))
        metrics[f"{name}_questions_without_passage"] = sum(not len(each.passages) for each in selections[name])
    for name, run in initial.items():
        metrics |= measure_initial(run, asked["triviaqa"], texts, prefix=name)
    return metrics | _compare(parameters, measured)


if __name__ == "__main__":
    run_stage(main, "kvqae.read", ReadParameters)
