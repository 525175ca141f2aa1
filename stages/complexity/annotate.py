"""Stage `complexity-annotate`. The adaptation corpus with predicted frames."""

from pathlib import Path

from trivium.complexity.frames.annotation import AnnotateParameters, annotate, distinct_contexts
from trivium.complexity.frames.parser_folder import load_parser
from trivium.core.stage import stage
from trivium.core.tables import write_table
from trivium.formats.squad import read_squad
from trivium.measures.frames import entropy_bits


@stage("complexity.annotate", metrics="metrics/complexity/annotate.json")
def main(
    parameters: AnnotateParameters,
    *,
    parser: Path = Path("models/complexity/frame_parser"),
    questions: Path = Path("data/complexity/raw/fquad/train.json"),
    out: Path = Path("data/complexity/fquad_frames.parquet"),
) -> dict[str, float]:
    """Read the contexts of a SQuAD-format file and write one row a predicted frame."""
    read = read_squad(questions)
    contexts = distinct_contexts(read.questions)
    model = load_parser(parser, parameters.batch)
    table, counts = annotate(model, contexts)
    write_table(out, table)
    by_frame = [counts[f"frame {frame}"] for frame in model.labels.frames]
    return {
        "contexts": float(len(contexts)),
        "questions": float(len(read.questions)),
        "questions_dropped": float(sum(read.dropped.values())),
        "contexts_without_frame": float(counts["contexts_without_frame"]),
        "sentences": float(counts["sentences"]),
        "sentences_cut": float(counts["sentences_cut"]),
        "frames_found": float(sum(by_frame)),
        "elements_found": float(counts["elements"]),
        "distinct_frames": float(sum(count > 0 for count in by_frame)),
        "frames_never_found": float(sum(count == 0 for count in by_frame)),
        "frame_entropy_bits": entropy_bits(by_frame),
        "unknown_lexical_units": float(counts["unknown_lexical_units"]),
    }
