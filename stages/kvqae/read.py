"""Stage `kvqae-read`. Compute Table 7: readers on lists of passages."""

from collections.abc import Sequence
from pathlib import Path

from trivium.core.stage import Context, stage
from trivium.core.tables import write_csv
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run_over
from trivium.kvqae.knowledge_base.passage_texts import passages_of_articles, read_passage_texts
from trivium.kvqae.reader import answered_rows
from trivium.kvqae.reader.inputs import PRETRAINED, ReadParameters, read_best, select_passages
from trivium.kvqae.reader.reading import Answer


@stage("kvqae.read", metrics="metrics/kvqae/read.json")
def main(
    parameters: ReadParameters,
    context: Context,
    *,
    kb: Path = Path("data/kvqae/kb"),
    viquae: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    triviaqa: Path = Path("data/kvqae/{kvqae.dataset}/triviaqa"),
    readers: Path = Path("models/kvqae/reader"),
    runs: Sequence[Path] = (
        Path("data/kvqae/runs/text/dpr_few_shot/test.trec"),
        Path("data/kvqae/runs/bm25_triviaqa/test.trec"),
        Path("data/kvqae/runs/fused/dpr_zero_shot_image/test.trec"),
        Path("data/kvqae/runs/fused/dpr_few_shot_image/test.trec"),
        Path("data/kvqae/runs/reranked_text_image/test.trec"),
    ),
    validation_runs: Sequence[Path] = (
        Path("data/kvqae/runs/fused/dpr_few_shot_image/validation.trec"),
        Path("data/kvqae/runs/reranked_text_image/validation.trec"),
    ),
    brought: Path = Path("data/kvqae/runs/brought"),
    out: Path = Path("data/kvqae/answers"),
    out_curve: Path = Path("metrics/kvqae/passages_read.csv"),
    out_per_query: Path = Path("metrics/kvqae/read_per_query.parquet"),
) -> dict[str, float]:
    """Choose numbers of passages on validation, then answer the test questions of every row.

    `readers` has a folder for each reader, for few-shot readers with a folder `seed-N` for each seed; a run has the
    name of its folder. The lists of BM25 that rows about TriviaQA read are measured under the first such row's name.
    """
    test_runs = {path.parent.name: path for path in (*runs, *sorted(brought.glob("*/test.trec")))}
    tuning_runs = {path.parent.name: path for path in (*validation_runs, *brought.glob("*/validation.trec"))}
    answered_rows.check_rows(parameters, test_runs, tuning_runs)
    folders: dict[str, dict[answered_rows.Seed, Path]] = {
        model: {None: readers / model}
        if model in PRETRAINED
        else {seed: readers / model / f"seed-{seed}" for seed in parameters.seeds}
        for model in {row.model for row in parameters.rows.values()}
    }
    questions = {"viquae": read_questions(viquae / "test.jsonl"), "triviaqa": read_questions(triviaqa / "test.jsonl")}
    validation = read_questions(viquae / "validation.jsonl")
    rows = parameters.rows
    depth = max([*parameters.sweep_passages, *(row.passages for row in rows.values() if isinstance(row.passages, int))])
    lists = {name: read_best(test_runs[row.run], questions[row.questions], depth) for name, row in rows.items()}
    swept = {
        name: read_best(tuning_runs[row.run], validation, depth)
        for name, row in rows.items()
        if row.passages == "validation"
    }
    first_reader = {row.run: name for name, row in reversed(rows.items()) if row.questions == "triviaqa"}
    trivia_ids = [question.id for question in questions["triviaqa"]]
    initial = {name: read_run_over(test_runs[run], trivia_ids) for run, name in first_reader.items()}
    own = passages_of_articles(kb, {question.wikidata_id for question in (*validation, *questions["viquae"])})
    read_lists = [run.documents for run in (*swept.values(), *lists.values(), *initial.values())]
    texts = read_passage_texts(kb, *read_lists, *own.values())

    chosen, points = answered_rows.choose_passages(swept, validation, own, folders, texts, parameters, context.engine)
    for point in points:
        name = point["row"]
        context.tracker.log(point["passages"], **{f"{name}_sweep_em": point["em"], f"{name}_sweep_f1": point["f1"]})

    selections = {}
    for name, row in rows.items():
        number = chosen[name] if row.passages == "validation" else row.passages
        selections[name] = select_passages(row.oracle, questions[row.questions], lists[name], texts, own, number)
    answers: dict[str, dict[answered_rows.Seed, list[Answer]]] = {name: {} for name in rows}
    measured: dict[str, dict[answered_rows.Seed, answered_rows.Values]] = {name: {} for name in rows}
    read = answered_rows.read_rows(selections, folders, texts, parameters, context.engine)
    for name, seed, readings in read:
        given = answered_rows.answer_all(selections[name], readings, weighted=rows[name].weighted)
        answers[name][seed], measured[name][seed] = given, answered_rows.measure(selections[name], given)
    answered_rows.write_answers(out, out_per_query, selections, answers, measured)
    write_csv(out_curve, ["row", "passages", "em", "f1"], points)
    metrics: dict[str, float] = {f"{name}_passages": number for name, number in chosen.items()}
    metrics |= {f"{point['row']}_validation_em@{point['passages']}": point["em"] for point in points}
    for name, by_seed in measured.items():
        metrics |= answered_rows.summarize(name, list(by_seed.values()))
        metrics[f"{name}_questions_without_passage"] = sum(not len(chosen.passages) for chosen in selections[name])
    for name, run in initial.items():
        metrics |= answered_rows.measure_initial(run, questions["triviaqa"], texts, prefix=name)
    return metrics | answered_rows.compare_rows(parameters, measured)
