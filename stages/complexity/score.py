"""Stage `complexity-score`. Table 1 and Figure 2: ROUGE-L of every model and of trivial baselines."""

from functools import partial
from pathlib import Path

import numpy as np

from trivium.complexity import systems
from trivium.complexity.table1 import FRAME_COLUMNS, ScoreParameters, rows_of, score, scores_table
from trivium.core.stage import Context, stage
from trivium.core.tables import write_csv, write_table
from trivium.formats.frame_corpora import read_examples
from trivium.formats.squad import as_squad, write_squad
from trivium.measures.rouge import is_mangled

BASELINE = "best_overlap_sentence"  # the one that models are compared with


@stage("complexity.score", metrics="metrics/complexity/score.json")
def main(
    parameters: ScoreParameters,
    context: Context,
    *,
    questions: Path = Path("data/complexity/raw/calor/questions.jsonl"),
    texts: Path = Path("data/complexity/raw/calor/frames/test.jsonl"),
    predictions: Path = Path("data/complexity/predictions"),
    prompted: Path = Path("data/complexity/prompted"),
    brought: Path = Path("brought/complexity/predictions"),
    out: Path = Path("data/complexity/scores.parquet"),
    out_frames: Path = Path("metrics/complexity/frame_scores.csv"),
    out_questions: Path = Path("data/complexity/evaluation.json"),
) -> dict[str, float]:
    """Write every answer's scores (Parquet), the means by frame (CSV), and the questions in SQuAD's format."""
    examples = read_examples(questions, texts)
    ids, references = [row.id for row in examples], [row.answer_text for row in examples]
    frames, elements = [row.frame.frame for row in examples], [row.answer_element for row in examples]
    readers = {name: parameters.readers[name] for name in parameters.run}
    replies = [file for name in parameters.prompted if (file := prompted / f"{name}.jsonl").is_file()]  # of an endpoint
    models = [
        *systems.read_trained(predictions, readers, parameters.seeds, ids),
        *systems.read_files(replies, "prompted", ids),
        *systems.read_files(sorted(brought.glob("*.jsonl")), "brought", ids),
        *systems.make_baselines(examples, parameters.seed),
    ]
    systems.check_names(models)
    baseline = score(next(system for system in models if system.model == BASELINE), references).by_question("rouge_l")
    of_text = [row.text.id for row in examples]
    score_model = partial(rows_of, parameters, references, frames, elements, of_text, baseline)
    rows = list(context.engine.map(score_model, models, description="models"))
    metrics = {
        "questions": float(len(examples)),
        "texts": float(len(set(of_text))),
        "frames": float(len(set(frames))),
        "alone_with_their_element": float(sum(elements.count(name) == 1 for name in elements)),
        "mangled_references": float(np.mean([is_mangled(reference) for reference in references])),
        "prompted_not_run": float(len(parameters.prompted) - len(replies)),
    }
    for scored, _, numbers in rows:
        metrics |= {f"{scored.system.model}_{name}": value for name, value in numbers.items()}
    write_table(out, scores_table([scored for scored, _, _ in rows]))
    means = ({"model": scored.system.model, **frame} for scored, by_frame, _ in rows for frame in by_frame)
    write_csv(out_frames, FRAME_COLUMNS, means)
    write_squad(out_questions, [as_squad(example) for example in examples])
    return metrics
