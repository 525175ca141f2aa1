"""FQuAD and Calor as their owners give them to the user: checked, taken, their digests kept."""

from collections.abc import Iterable
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.formats.frame_corpora import write_texts
from trivium.formats.framenet_conll import read_framenet_conll
from trivium.formats.framenet_xml import read_core_types, read_framenet
from trivium.sources.brought import bring, require_files
from trivium.sources.complexity.checks import FQUAD_SPLITS, FRAME_SPLITS
from trivium.sources.disk import sha256_of
from trivium.sources.pins import Pins
from trivium.sources.requested import REQUESTED

CORE_TYPES = "frame"  # FrameNet's folder of frames, beside the splits


def take_fquad(source: Path, out: Path, pins: Pins | None = None) -> dict[str, Path]:
    """Take `train.json` and `validation.json` of a user's folder into `out`, with their digests in `provenance.json`.

    Returns:
        The user's file of each split, still to be validated.

    Raises:
        BadInput: a file is missing, or is not the one that is pinned.
    """
    files = [f"{split}.json" for split in FQUAD_SPLITS]
    require_files(source, files)
    _record(source, out, files, (pins or Pins(REQUESTED)), "fquad")
    bring(source, out, files)
    return {split: source / f"{split}.json" for split in FQUAD_SPLITS}


def take_calor(source: Path, out: Path, pins: Pins | None = None) -> tuple[dict[str, Path], dict[str, float]]:
    """Take the questions, annotated texts and syntax (if any) of a user's folder into `out`, with `provenance.json`.

    The texts of a split are `frames/<split>.jsonl`, or a folder `frames/<split>/` of FrameNet's XML (full texts or
    lexical units) or of Asfalda's tables, which is converted; core types are in `frames/frame/` if they are known.

    Returns:
        The file of each split's texts, still to be validated: the user's, or the one converted. And what conversion
        counted.

    Raises:
        BadInput: a file is missing, is not the one that is pinned, a folder holds XML and tables, or see
            `read_framenet` and `read_framenet_conll`.
    """
    frames = source / "frames"
    as_folder = [split for split in FRAME_SPLITS if (frames / split).is_dir()]
    as_lines = [split for split in FRAME_SPLITS if split not in as_folder]
    files = ["questions.jsonl", *(f"frames/{split}.jsonl" for split in as_lines)]
    require_files(source, files)
    files += ["syntax.conllu"] if (source / "syntax.conllu").is_file() else []
    converted = [path for split in (*as_folder, CORE_TYPES) for path in sorted((frames / split).glob("*.xml"))]
    converted += [path for split in as_folder for path in sorted((frames / split).glob("*.conll"))]
    _record(
        source,
        out,
        [*files, *(str(path.relative_to(source)) for path in converted)],
        (pins or Pins(REQUESTED)),
        "calor",
    )
    bring(source, out, files)
    core_types = read_core_types(frames / CORE_TYPES) if as_folder and (frames / CORE_TYPES).is_dir() else {}
    counts: dict[str, float] = {}
    for split in as_folder:
        suffixes = {path.suffix for path in converted if path.parent == frames / split}
        if len(suffixes) > 1:
            raise BadInput("XML and tables in one folder", file=frames / split, got=suffixes, expected="one of them")
        read = read_framenet_conll if suffixes == {".conll"} else read_framenet
        texts, left = read(frames / split, core_types)
        write_texts(out / "frames" / f"{split}.jsonl", texts)
        counts |= {f"calor_{split}_{name}": float(number) for name, number in left.items()}
    places = {split: (out if split in as_folder else source) / "frames" / f"{split}.jsonl" for split in FRAME_SPLITS}
    return places, counts


def _record(source: Path, out: Path, files: Iterable[str], pins: Pins, name: str) -> None:
    """Compare digests with those that are pinned, and keep them."""
    found = {file: sha256_of(source / file) for file in files}
    for file, digest in found.items():
        pinned = pins.file(name, file).sha256
        if pinned is not None and digest != pinned:
            raise BadInput("not the file that is pinned", file=source / file, got=digest, expected=f"sha256 {pinned}")
    write_json(out / "provenance.json", found)
