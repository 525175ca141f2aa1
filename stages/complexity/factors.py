"""Stage `complexity-factors`. Seven complexity factors of every example, f0 to f6."""

from pathlib import Path

import pyarrow as pa

from trivium.complexity.effects.factor_table import names_of, schema
from trivium.complexity.factors.frame_factors import (
    Corpora,
    FactorsParameters,
    factor_rows,
    lexical_units,
    predicted_units,
)
from trivium.complexity.factors.inflections import known_inflections
from trivium.files.tables import write_table
from trivium.formats.conllu import read_conllu
from trivium.formats.frame_corpora import read_examples, read_texts
from trivium.harness.stage import Context, run_stage


def main(
    parameters: FactorsParameters,
    context: Context,
    *,
    questions: Path,
    texts: Path,
    training: Path,
    syntax: Path,
    adaptation: Path,
    out: Path,
) -> dict[str, float]:
    """Write the table of factors; the metrics hold shares, thresholds, uncounted examples and balance."""
    del context
    examples = read_examples(questions, texts)
    evaluation, trained = read_texts(texts), read_texts(training)
    trees = read_conllu(syntax, {text.id: text.text for text in evaluation})
    corpora = Corpora(
        adaptation=predicted_units(adaptation),
        training=lexical_units(trained),
        syntax=trees,
        inflections=known_inflections(trees, [*trained, *evaluation]),
    )
    rows, metrics = factor_rows(examples, corpora, parameters)
    names = names_of(parameters.f3_reading, parameters.f4_arcs, parameters.f5_elements)
    write_table(out, pa.Table.from_pylist(rows, schema=schema(names)))
    return metrics


if __name__ == "__main__":
    run_stage(main, "complexity.factors", FactorsParameters)
