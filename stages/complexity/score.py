"""Stage `complexity-score`. Table 1 and Figure 2: ROUGE-L of every model and of trivial baselines."""

from pathlib import Path

import numpy as np

from trivium.complexity.scoring import systems
from trivium.complexity.scoring.frame_spread import FRAME_COLUMNS, frame_means, spread
from trivium.complexity.scoring.table1 import ScoreParameters, score, scores_table, shuffled, summarize
from trivium.files.csv_tables import write_csv
from trivium.files.tables import write_table
from trivium.formats.frame_corpora import read_examples
from trivium.formats.squad import as_squad, write_squad
from trivium.harness.stage import Context, run_stage
from trivium.measures.rouge import mangled

BASELINE = "best_overlap_sentence"  # the one that models are compared with


def main(
    parameters: ScoreParameters,
    context: Context,
    *,
    questions: Path,
    texts: Path,
    predictions: Path,
    prompted: Path,
    brought: Path,
    out: Path,
    out_frames: Path,
    out_questions: Path,
) -> dict[str, float]:
    """Write every answer's scores (Parquet), the means by frame (CSV), and the questions in SQuAD's format."""
    examples = read_examples(questions, texts)
    ids, references = [each.id for each in examples], [each.answer_text for each in examples]
    frames, elements = [each.frame.frame for each in examples], [each.answer_element for each in examples]
    of_text = [each.text.id for each in examples]
    ran = systems.prompted(prompted, parameters.prompted, ids)
    every = [
        *systems.trained(
            predictions, {name: parameters.readers[name] for name in parameters.run}, parameters.seeds, ids
        ),
        *ran,
        *systems.brought(brought, ids),
        *systems.baselines(examples, parameters.seed),
    ]
    systems.check_names(every)
    all_scored = [score(system, references) for system in every]
    baseline = next(scored for scored in all_scored if scored.system.model == BASELINE)
    metrics = {
        "questions": float(len(examples)),
        "texts": float(len(set(of_text))),
        "frames": float(len(set(frames))),
        "alone_with_their_element": float(sum(elements.count(name) == 1 for name in elements)),
        "mangled_references": float(np.mean([mangled(reference) for reference in references])),
        "prompted_not_run": float(len(parameters.prompted) - len(ran)),
    }
    rows: list[dict[str, str | float]] = []
    for scored in all_scored:
        model = scored.system.model
        by_measure = {measure: scored.by_question(measure) for measure in ("rouge_l", "rouge_l_paper")}
        rows += [{"model": model, **row} for row in frame_means(by_measure, frames)]
        values = summarize(scored, baseline, of_text, parameters)
        values |= spread(by_measure["rouge_l"], frames, of_text, seed=parameters.seed)
        if scored.system.kind != "baseline":
            value = shuffled(scored.system, references, elements, shuffles=parameters.shuffles, seed=parameters.seed)
            values |= {} if value is None else {"shuffled_rouge_l": value}
        metrics |= {f"{model}_{name}": value for name, value in values.items()}
    write_table(out, scores_table(all_scored))
    write_csv(out_frames, FRAME_COLUMNS, rows)
    write_squad(out_questions, [as_squad(example) for example in examples])
    return metrics


if __name__ == "__main__":
    run_stage(main, "complexity.score", ScoreParameters)
