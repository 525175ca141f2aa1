"""Second module of stage `complexity-score`. Human judgements: write Label Studio's tasks, measure the verdicts."""

from collections import defaultdict
from pathlib import Path

import numpy as np

from trivium.complexity import judging
from trivium.core.atomic import write_folder
from trivium.core.stage import stage
from trivium.core.tables import write_csv, write_json, write_table
from trivium.formats.frame_corpora import read_examples
from trivium.measures.bootstrap import OPTIONS, clustered_interval

FRAME_COLUMNS = ("model", "frame", "judged", "correct")


@stage("complexity.judgements", metrics="metrics/complexity/judgements.json")
def main(
    parameters: judging.JudgementsParameters,
    *,
    questions: Path = Path("data/complexity/raw/calor/questions.jsonl"),
    texts: Path = Path("data/complexity/raw/calor/frames/test.jsonl"),
    scores: Path = Path("data/complexity/scores.parquet"),
    brought: Path = Path("brought/complexity/judgements"),
    out: Path = Path("data/complexity/judgements.parquet"),
    out_label_studio: Path = Path("data/complexity/label_studio"),
    out_frames: Path = Path("metrics/complexity/frame_judgements.csv"),
) -> dict[str, float]:
    """Write tasks and labelling configuration, the judgements there are (Parquet), and their shares by frame (CSV)."""
    examples = read_examples(questions, texts)
    of = {example.id: example for example in examples}
    answers = judging.read_answers(scores)
    tasks = judging.make_tasks(examples, answers, parameters)
    judgements, counts = judging.read_judgements(brought, set(of), answers)
    metrics = {"tasks": float(len(tasks)), "judgements": float(len(judgements))}
    metrics["annotators"] = float(len({judgement.annotator for judgement in judgements}))
    metrics |= {name: float(count) for name, count in counts.items()} | judging.agreement(judgements)
    rows = []
    for model, correct in judging.correct_answers(judgements, answers).items():
        metrics[f"{model}_judged"] = float(len(correct))
        if not correct:
            continue
        metrics[f"{model}_correct"] = float(np.mean(list(correct.values())))
        metrics[f"{model}_correct_low"], metrics[f"{model}_correct_high"] = clustered_interval(
            list(map(float, correct.values())),
            [of[identifier].text.id for identifier in correct],
            **parameters.model_dump(include=OPTIONS),
        )
        by_frame: dict[str, list[bool]] = defaultdict(list)
        for identifier, value in correct.items():
            by_frame[of[identifier].frame.frame].append(value)
        rows += [(model, frame, len(values), float(np.mean(values))) for frame, values in sorted(by_frame.items())]
    write_table(out, judging.judgements_table(judgements))
    with write_folder(out_label_studio) as folder:
        write_json(folder / "tasks.json", tasks)
        (folder / "config.xml").write_text(judging.labelling_config(show_reference=parameters.show_reference), "utf-8")
    write_csv(out_frames, FRAME_COLUMNS, rows)
    return metrics
