"""The raw files of complexity: FQuAD and Calor as their owners give them, or the sample's; taken and checked.

Errors stop, oddities are counted. Leaks between splits: a text or context that holds much of another split's, or is
made of it, is counted (corpora are cut in many ways, and the paper draws its frame frequencies from the texts it asks
about); the same id for two different things is an error.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.formats.conllu import load_conllu
from trivium.formats.frame_corpora import load_examples, read_texts, write_texts
from trivium.formats.framed_texts import AnnotatedText, Example
from trivium.formats.framenet_xml import read_core_types, read_framenet
from trivium.formats.squad import SquadSet, read_squad
from trivium.measures.french import KnownTexts
from trivium.sources.brought import bring, require_files
from trivium.sources.disk import sha256_of
from trivium.sources.pins import REQUESTED, Pins

FQUAD_SPLITS = ("train", "validation")
FRAME_SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Raw:
    """Paths of the raw files; gold syntax and questions about frames may be absent."""

    fquad: Mapping[str, Path]
    questions: Path | None
    frames: Mapping[str, Path]
    syntax: Path | None

    @classmethod
    def of(cls, fquad: Path, calor: Path) -> "Raw":
        """Find the files of two raw folders."""
        return cls(
            fquad={split: fquad / f"{split}.json" for split in FQUAD_SPLITS},
            questions=calor / "questions.jsonl",
            frames={split: calor / "frames" / f"{split}.jsonl" for split in FRAME_SPLITS},
            syntax=calor / "syntax.conllu" if (calor / "syntax.conllu").is_file() else None,
        )


def validate_complexity(raw: Raw) -> dict[str, float]:
    """Check the raw files; questions with answers that stand elsewhere are listed.

    Returns:
        Counts; every kind of record that later stages will do without has one.

    Raises:
        BadInput: see `read_squad`, `read_texts`, `load_examples`, `load_conllu`; or an id stands for two texts or two
            questions of different splits.
    """
    counts: Counter[str] = Counter()
    sets = {split: read_squad(path) for split, path in raw.fquad.items()}
    for split, read in sets.items():
        _count_questions(f"fquad_{split}", read, counts)
        if read.wrong_offsets is not None:
            print(f"{raw.fquad[split]}: {read.wrong_offsets}")
    texts = {split: read_texts(raw.frames[split]) for split in FRAME_SPLITS}
    for split, annotated in texts.items():
        _count_texts(f"calor_{split}", annotated, counts)
    trained_frames = {frame.frame for text in texts["train"] for frame in text.frames}
    if raw.questions is not None:
        examples = load_examples(raw.questions, texts["test"])
        counts["calor_questions"] = len(examples.examples)
        counts["calor_questions_unified"] = examples.unified
        counts["calor_questions_answer_beside_element"] = examples.beside_element
        counts["calor_questions_with_chain"] = sum(bool(example.chain) for example in examples.examples)
        counts["calor_question_frames"] = len({example.frame.frame for example in examples.examples})
        new = sum(example.frame.frame not in trained_frames for example in examples.examples)
        counts["calor_questions_frame_not_in_train"] = new
        _count_syntax(raw.syntax, texts["test"], examples.examples, counts)
    _leaks_of_questions(raw, sets, counts)
    _leaks_of_texts(raw, texts, counts)
    contexts = (question.context for read in sets.values() for question in read.questions)
    counts["calor_test_texts_in_fquad"] = _shared(contexts, (text.text for text in texts["test"]))
    return {name: float(counts[name]) for name in sorted(counts)}


def _shared(corpus: Iterable[str], texts: Iterable[str]) -> int:
    """How many different texts overlap with those of a corpus."""
    return sum(map(KnownTexts(corpus).overlap, dict.fromkeys(texts)))


def _count_questions(name: str, read: SquadSet, counts: Counter[str]) -> None:
    counts[f"{name}_questions"] = len(read.questions)
    counts[f"{name}_contexts"] = len({question.context for question in read.questions})
    counts[f"{name}_wrong_answers"] = len(read.wrong_answers)
    counts[f"{name}_answers_unified"] = read.unified
    for reason, number in read.dropped.items():
        counts[f"{name}_dropped_{reason}"] = number


def _count_texts(name: str, texts: list[AnnotatedText], counts: Counter[str]) -> None:
    frames = [frame for text in texts for frame in text.frames]
    counts[f"{name}_texts"] = len(texts)
    counts[f"{name}_frames"] = len(frames)
    counts[f"{name}_frame_types"] = len({frame.frame for frame in frames})
    counts[f"{name}_elements"] = sum(len(frame.elements) for frame in frames)
    counts[f"{name}_chains"] = sum(len(text.chains) for text in texts)


def _count_syntax(path: Path | None, texts: list[AnnotatedText], examples: list[Example], counts: Counter[str]) -> None:
    stored = {text.id: text.text for text in texts}
    syntax = None if path is None else load_conllu(path, stored)
    sentences = {} if syntax is None else syntax.sentences
    counts["calor_syntax_texts"] = len(sentences)
    counts["calor_syntax_sentences"] = sum(map(len, sentences.values()))
    counts["calor_syntax_empty_nodes"] = 0 if syntax is None else syntax.empty_nodes
    counts["calor_questions_without_syntax"] = sum(example.text.id not in sentences for example in examples)


def _leaks_of_questions(raw: Raw, sets: Mapping[str, SquadSet], counts: Counter[str]) -> None:
    train = sets["train"].questions
    train_ids = {question.id for question in train}
    for split, read in sets.items():
        if split == "train":
            continue
        for question in read.questions:
            if question.id in train_ids:
                raise BadInput("question id also in train.json", file=raw.fquad[split], field="id", got=question.id)
        shared = _shared((question.context for question in train), (question.context for question in read.questions))
        counts[f"fquad_contexts_in_train_and_{split}"] = shared


def _leaks_of_texts(raw: Raw, texts: Mapping[str, list[AnnotatedText]], counts: Counter[str]) -> None:
    first: dict[str, tuple[str, str]] = {}
    for split, annotated in texts.items():
        for text in annotated:
            other, stored = first.setdefault(text.id, (split, text.text))
            if stored != text.text:
                problem = f"id of another text in {raw.frames[other].name}"
                raise BadInput(problem, file=raw.frames[split], field="id", got=text.id)
    for one, other in (("train", "validation"), ("train", "test"), ("validation", "test")):
        counts[f"calor_texts_in_{one}_and_{other}"] = _shared(
            *((text.text for text in texts[split]) for split in (one, other))
        )


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
    lexical units), which is converted; core types are in `frames/frame/` if they are known.

    Returns:
        The file of each split's texts, still to be validated: the user's, or the one converted. And what conversion
        counted.

    Raises:
        BadInput: a file is missing, is not the one that is pinned, or see `read_framenet`.
    """
    frames = source / "frames"
    as_folder = [split for split in FRAME_SPLITS if (frames / split).is_dir()]
    as_lines = [split for split in FRAME_SPLITS if split not in as_folder]
    files = ["questions.jsonl", *(f"frames/{split}.jsonl" for split in as_lines)]
    require_files(source, files)
    files += ["syntax.conllu"] if (source / "syntax.conllu").is_file() else []
    converted = [path for split in (*as_folder, CORE_TYPES) for path in sorted((frames / split).glob("*.xml"))]
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
        texts, left = read_framenet(frames / split, core_types)
        write_texts(out / "frames" / f"{split}.jsonl", texts)
        counts |= {f"calor_{split}_{name}": float(number) for name, number in left.items()}
    places = {split: (out if split in as_folder else source) / "frames" / f"{split}.jsonl" for split in FRAME_SPLITS}
    return places, counts


def _record(source: Path, out: Path, files: Iterable[str], pins: Pins, name: str) -> None:
    """Compare digests with those that are pinned, and keep them."""
    digests = {file: sha256_of(source / file) for file in files}
    for file, digest in digests.items():
        pinned = pins.file(name, file).sha256
        if pinned is not None and digest != pinned:
            raise BadInput("not the file that is pinned", file=source / file, got=digest, expected=f"sha256 {pinned}")
    write_json(out / "provenance.json", digests)
