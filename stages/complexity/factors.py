"""Stage `complexity-factors`. Complexity factors of every example: f0 to f6, and those added."""

from pathlib import Path

from trivium.complexity.factors.corpora import Corpora, known_inflections, lexical_units, predicted_units
from trivium.complexity.factors.registry import AnyFactors, FactorsParameters, factor_table
from trivium.core.stage import stage
from trivium.core.tables import write_table
from trivium.formats.conllu import read_conllu
from trivium.formats.frame_corpora import read_examples, read_texts


@stage("complexity.factors", AnyFactors, metrics="metrics/complexity/factors.json")
def main(
    parameters: FactorsParameters,
    *,
    questions: Path = Path("data/complexity/raw/calor/questions.jsonl"),
    texts: Path = Path("data/complexity/raw/calor/frames/test.jsonl"),
    training: Path = Path("data/complexity/raw/calor/frames/train.jsonl"),
    syntax: Path = Path("data/complexity/syntax.conllu"),
    adaptation: Path = Path("data/complexity/fquad_frames.parquet"),
    out: Path = Path("data/complexity/factors.parquet"),
) -> dict[str, float]:
    """Write the table of factors; the metrics hold shares, thresholds, uncounted examples and balance."""
    examples = read_examples(questions, texts)
    evaluation, trained = read_texts(texts), read_texts(training)
    trees = read_conllu(syntax, {text.id: text.text for text in evaluation}).sentences
    corpora = Corpora(
        adaptation=predicted_units(adaptation),
        training=lexical_units(trained),
        syntax=trees,
        inflections=known_inflections(trees, [*trained, *evaluation]),
    )
    table, metrics = factor_table(examples, corpora, parameters.chosen())
    write_table(out, table)
    return metrics
