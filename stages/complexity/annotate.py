"""Stage `complexity-annotate`. The adaptation corpus with predicted frames."""

from collections import Counter
from pathlib import Path

from trivium.complexity.frames.annotation import AnnotateParameters, annotate
from trivium.complexity.frames.labels import UNKNOWN
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
    contexts = {question.context for question in read.questions}
    model = load_parser(parser, parameters.batch)
    table, sentences, cut = annotate(model, read.questions)
    write_table(out, table)
    counts = Counter(table["frame"].to_pylist())
    by_frame = [counts[frame] for frame in model.labels.frames]
    return {
        "contexts": float(len(contexts)),
        "questions": float(len(read.questions)),
        "questions_dropped": float(sum(read.dropped.values())),
        "contexts_without_frame": float(len(contexts) - len(table["text"].unique())),
        "sentences": float(sentences),
        "sentences_cut": float(cut),
        "frames_found": float(len(table)),
        "elements_found": float(sum(map(len, table["elements"]))),
        "distinct_frames": float(sum(count > 0 for count in by_frame)),
        "frames_never_found": float(sum(count == 0 for count in by_frame)),
        "frame_entropy_bits": entropy_bits(by_frame),
        "unknown_lexical_units": float(table["part_of_speech"].to_pylist().count(UNKNOWN)),
    }
