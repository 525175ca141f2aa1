"""Check the raw files of complexity: FQuAD and Calor as their owners give them, public sets, or the sample's.

Errors stop the run, irregularities are counted. A text or context that shares much with one of another split is counted
as a leak (corpora are cut in many ways, and the paper takes its frame frequencies from the texts it asks about); the
same id of two different texts or questions is an error.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zlib import crc32

from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_FILE
from trivium.core.tables import write_json
from trivium.core.zips import open_zip, read_member
from trivium.formats.conllu import read_conllu
from trivium.formats.frame_corpora import load_examples, read_texts, write_texts
from trivium.formats.framed_texts import AnnotatedText, Example
from trivium.formats.framenet_xml import read_core_types, read_framenet
from trivium.formats.squad import SquadQuestion, SquadSet, read_squad, write_squad
from trivium.measures.french import KnownTexts
from trivium.sources.brought import PROVENANCE, bring, read_records, require_files
from trivium.sources.pins import REQUESTED, Pins

FQUAD_SPLITS = ("train", "validation")
FRAME_SPLITS = ("train", "validation", "test")
CORE_TYPES = "frame"  # FrameNet's folder of frames, beside the splits


def validate_complexity(
    fquad: Mapping[str, Path], questions: Path | None, frames: Mapping[str, Path], syntax: Path | None
) -> dict[str, float]:
    """Check the raw files, the first and third by split, and list questions with answers that stand elsewhere.

    Returns counts, also of every kind of record that later stages cannot use. Raises as the readers of the files; also
    where an id stands for two texts or two questions of different splits.
    """
    counts: Counter[str] = Counter()
    sets = {split: read_squad(path) for split, path in fquad.items()}
    for split, read in sets.items():
        name = f"fquad_{split}"
        counts[f"{name}_questions"] = len(read.questions)
        counts[f"{name}_contexts"] = len({question.context for question in read.questions})
        counts[f"{name}_wrong_answers"] = len(read.wrong_answers)
        counts[f"{name}_answers_unified"] = read.unified
        counts.update({f"{name}_dropped_{reason}": number for reason, number in read.dropped.items()})
        if read.wrong_offsets is not None:
            print(f"{fquad[split]}: {read.wrong_offsets}")
    texts = {split: read_texts(frames[split]) for split in FRAME_SPLITS}
    for split, annotated in texts.items():
        name, instances = f"calor_{split}", [frame for text in annotated for frame in text.frames]
        counts[f"{name}_texts"] = len(annotated)
        counts[f"{name}_frames"] = len(instances)
        counts[f"{name}_frame_types"] = len({frame.frame for frame in instances})
        counts[f"{name}_elements"] = sum(len(frame.elements) for frame in instances)
        counts[f"{name}_chains"] = sum(len(text.chains) for text in annotated)
    trained_frames = {frame.frame for text in texts["train"] for frame in text.frames}
    if questions is not None:
        examples = load_examples(questions, texts["test"])
        counts["calor_questions"] = len(examples.examples)
        counts["calor_questions_unified"] = examples.unified
        counts["calor_questions_answer_beside_element"] = examples.beside_element
        counts["calor_questions_with_chain"] = sum(bool(example.chain) for example in examples.examples)
        counts["calor_question_frames"] = len({example.frame.frame for example in examples.examples})
        new = sum(example.frame.frame not in trained_frames for example in examples.examples)
        counts["calor_questions_frame_not_in_train"] = new
        _count_syntax(syntax, texts["test"], examples.examples, counts)
    _count_leaks_of_questions(fquad, sets, counts)
    _count_leaks_of_texts(frames, texts, counts)
    contexts = (question.context for read in sets.values() for question in read.questions)
    counts["calor_test_texts_in_fquad"] = _count_shared(contexts, (text.text for text in texts["test"]))
    return {name: float(counts[name]) for name in sorted(counts)}


def _count_shared(corpus: Iterable[str], texts: Iterable[str]) -> int:
    """Count the different texts that overlap with those of a corpus."""
    return sum(map(KnownTexts(corpus).overlap, dict.fromkeys(texts)))


def _count_syntax(path: Path | None, texts: list[AnnotatedText], examples: list[Example], counts: Counter[str]) -> None:
    syntax = None if path is None else read_conllu(path, {text.id: text.text for text in texts})
    sentences = {} if syntax is None else syntax.sentences
    counts["calor_syntax_texts"] = len(sentences)
    counts["calor_syntax_sentences"] = sum(map(len, sentences.values()))
    counts["calor_syntax_empty_nodes"] = 0 if syntax is None else syntax.empty_nodes
    counts["calor_questions_without_syntax"] = sum(example.text.id not in sentences for example in examples)


def _count_leaks_of_questions(paths: Mapping[str, Path], sets: Mapping[str, SquadSet], counts: Counter[str]) -> None:
    train = sets["train"].questions
    train_ids = {question.id for question in train}
    for split in [name for name in sets if name != "train"]:
        others = sets[split].questions
        for question in others:
            if question.id in train_ids:
                raise BadInput("question id also in train.json", file=paths[split], field="id", got=question.id)
        shared = _count_shared((question.context for question in train), (question.context for question in others))
        counts[f"fquad_contexts_in_train_and_{split}"] = shared


def _count_leaks_of_texts(
    paths: Mapping[str, Path], texts: Mapping[str, list[AnnotatedText]], counts: Counter[str]
) -> None:
    first: dict[str, tuple[str, str]] = {}
    for split, annotated in texts.items():
        for text in annotated:
            other, stored = first.setdefault(text.id, (split, text.text))
            if stored != text.text:
                problem = f"id of another text in {paths[other].name}"
                raise BadInput(problem, file=paths[split], field="id", got=text.id)
    for one, other in combinations(FRAME_SPLITS, 2):
        shared = _count_shared(*((text.text for text in texts[split]) for split in (one, other)))
        counts[f"calor_texts_in_{one}_and_{other}"] = shared


def take_fquad(source: Path, out: Path) -> dict[str, Path]:
    """Take `train.json` and `validation.json` of a user's folder into `out`, with their digests in `provenance.json`.

    Returns the user's file of each split, still to be validated; one that is not the one pinned is refused.
    """
    files = {split: f"{split}.json" for split in FQUAD_SPLITS}
    require_files(source, files.values())
    write_json(out / PROVENANCE, Pins(REQUESTED).check("fquad", source, files.values()))
    bring(source, out, files.values())
    return {split: source / file for split, file in files.items()}


def take_calor(source: Path, out: Path) -> tuple[dict[str, Path], dict[str, float]]:
    """Take the questions, annotated texts and syntax (if any) of a user's folder into `out`, with `provenance.json`.

    The texts of a split are `frames/<split>.jsonl`, or a folder `frames/<split>/` of FrameNet's XML (full texts or
    lexical units), which is converted; core types are in `frames/frame/` if they are known.

    Returns the file of each split's texts, still to be validated (the user's, or the one converted), and what
    conversion counted. A file that is not the one pinned is refused.
    """
    frames = source / "frames"
    as_folder = [split for split in FRAME_SPLITS if (frames / split).is_dir()]
    as_lines = [split for split in FRAME_SPLITS if split not in as_folder]
    files = ["questions.jsonl", *(f"frames/{split}.jsonl" for split in as_lines)]
    require_files(source, files)
    files += ["syntax.conllu"] if (source / "syntax.conllu").is_file() else []
    paths = [path for split in (*as_folder, CORE_TYPES) for path in sorted((frames / split).glob("*.xml"))]
    converted = [str(path.relative_to(source)) for path in paths]
    write_json(out / PROVENANCE, Pins(REQUESTED).check("calor", source, [*files, *converted]))
    bring(source, out, files)
    core_types = read_core_types(frames / CORE_TYPES) if as_folder and (frames / CORE_TYPES).is_dir() else {}
    counts: dict[str, float] = {}
    for split in as_folder:
        texts, left = read_framenet(frames / split, core_types)
        write_texts(out / "frames" / f"{split}.jsonl", texts)
        counts |= {f"calor_{split}_{name}": float(number) for name, number in left.items()}
    places = {split: (out if split in as_folder else source) / "frames" / f"{split}.jsonl" for split in FRAME_SPLITS}
    return places, counts


# PIAF (Keraron et al., LREC 2020; MIT) stands in for FQuAD and, by articles that nobody trains on, for questions to
# evaluate on. The French FrameNet (Djemaa et al., LREC 2016; LGPL-LR), the Sequoia's part, stands in for Calor's texts.
PIAF, FRAMENET = "piaf", "french_framenet"
SEQUOIA = 3099  # the last of its sentences; those behind it are the French Treebank's, which has a licence of its own
_BLOCK = 50  # neighbouring sentences that stay in one split: they are of one document
_TENTHS = {"evaluation": range(2), "validation": range(2, 3), "train": range(3, 10)}


def take_piaf(out: Path, downloads: Path) -> dict[str, Path]:
    """Write PIAF's questions in SQuAD's format: 7/10 of the articles for training, 1/10 for validation, 2/10 for tests.

    An article's split follows from its title. Answers at wrong places are left for the readers of the files to handle.
    Returns the file of each split.
    """
    from trivium.sources.download import fetch_into  # half a second to import, and only downloads need it

    questions: dict[str, list[SquadQuestion]] = {split: [] for split in _TENTHS}
    with fetch_into([PIAF], out, downloads) as (temporary, sources, pins):
        for path in sources[PIAF].values():
            for row, record in read_records(path):
                try:
                    answers = tuple(zip(record["answers"]["text"], record["answers"]["answer_start"], strict=True))
                    texts = record["id"], record["title"], record["context"], record["question"]
                    question = SquadQuestion(*texts, answers)
                except (KeyError, TypeError, ValueError) as error:
                    expected = "id, title, context, question, answers {text, answer_start}"
                    raise BadInput(f"not PIAF's: {error!r}", file=path, row=row, expected=expected) from None
                tenth = crc32(str(question.title).encode()) % 10
                questions[next(name for name, tenths in _TENTHS.items() if tenth in tenths)].append(question)
        for split, of_split in questions.items():
            write_squad(temporary / f"{split}.json", of_split)
        write_json(temporary / PROVENANCE, pins.summary([PIAF]))
    return {split: out / f"{split}.json" for split in questions}


def take_french_framenet(out: Path, downloads: Path) -> tuple[dict[str, Path], dict[str, float]]:
    """Write the Sequoia's annotated sentences as `frames/<split>.jsonl`; blocks of neighbours stay in one split.

    Returns the file of each split, and what the conversion counted (`read_framenet`).
    """
    from trivium.sources.download import fetch_into

    splits = {"train": range(6), "validation": range(6, 7), "test": range(7, 10)}
    with fetch_into([FRAMENET], out, downloads) as (temporary, sources, pins), TemporaryDirectory() as work:
        (path,) = sources[FRAMENET].values()
        with open_zip(path) as archive:
            for member in archive.infolist():
                name = PurePosixPath(member.filename)
                if name.suffix == ".xml" and name.parent.name in ("lu", "frame"):
                    folder = Path(work) / name.parent.name
                    folder.mkdir(exist_ok=True)
                    (folder / name.name).write_bytes(read_member(archive, member, path, LARGEST_FILE))
        texts, left = read_framenet(Path(work) / "lu", read_core_types(Path(work) / "frame"))
        free = [text for text in texts if text.id.isdigit() and int(text.id) <= SEQUOIA]
        for split, tenths in splits.items():
            texts_of_split = [text for text in free if int(text.id) // _BLOCK % 10 in tenths]
            write_texts(temporary / "frames" / f"{split}.jsonl", texts_of_split)
        write_json(temporary / PROVENANCE, pins.summary([FRAMENET]))
    files = {split: out / "frames" / f"{split}.jsonl" for split in splits}
    counts = {name: float(number) for name, number in left.items()}
    return files, counts | {"sentences_of_the_french_treebank": float(len(texts) - len(free))}
