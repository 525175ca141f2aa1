"""Check the raw files of KVQAE from any source: what breaks the pipeline is an error, other irregularities are counted.

The formats: KILT articles, Wikidata entity JSON, questions as in ViQuAE, images in shards. Each file is read once.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from trivium.core.atomic import remove_folder, write_atomically
from trivium.core.errors import BadInput, naming
from trivium.core.image_shards import Images, write_images
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.tables import read_json_lines, write_json, write_json_lines
from trivium.formats.json_fields import read_records
from trivium.formats.kilt_articles import parse_article
from trivium.formats.pictures import PICTURES, is_picture
from trivium.formats.questions import SPLITS, Question, read_questions
from trivium.formats.wikidata import IMAGE_PROPERTIES, PROPERTIES, parse_entity
from trivium.kvqae.source_questions import normalize_question, source_questions
from trivium.sources.brought import PROVENANCE, bring, hash_files, require_files
from trivium.vision.decoding import open_picture

QUESTIONS = tuple(f"{split}.jsonl" for split in SPLITS)
TABLES = ("articles.jsonl", "wikidata.jsonl", *(f"viquae/{name}" for name in QUESTIONS))
IMAGE_FOLDERS = ("kb", "questions")
# Wikidata's classes of what can be shown, as annotators listed them.
CONCRETE_TYPES = Path(__file__).with_name("concrete_types.csv")
SMALLEST_SIDE = 20  # pixels; face detection passes over smaller images (kvqae.md §3)


def validate_kvqae(raw: Path, images: Path | None = None, *, may_lack_images: bool = False) -> dict[str, float]:
    """Check a raw folder except TriviaQA; returns counts, also of all records that later stages cannot use.

    `images` is the folder of its images, by default `raw/images`. Missing images of questions are counted if
    `may_lack_images`, as for a public set; else the first is an error. So is anything that breaks the pipeline: a wrong
    field, an id twice, an unknown property, more than a tenth of questions whose entity has no article.
    """
    require_files(raw, TABLES)
    kb, shown_images = (Images((images or raw / "images") / folder) for folder in IMAGE_FOLDERS)
    counts: Counter[str] = Counter()
    shown = _check_entities(raw / "wikidata.jsonl", kb, counts)
    described = _check_articles(raw / "articles.jsonl", shown, counts)
    for path, questions in _read_splits(raw / "viquae"):
        counts[f"viquae_{path.stem}"] = len(questions)
        counts["questions_whose_image_is_missing"] += _check_questions(path, questions, shown_images, may_lack_images)
        subjects = [question.wikidata_id or "" for question in questions]
        counts["questions_whose_entity_has_no_image"] += sum(not shown.get(subject, False) for subject in subjects)
        counts["questions_whose_article_is_missing"] += sum(subject not in described for subject in subjects)
    _check_join(raw / "articles.jsonl", counts)
    for folder, shards in zip(IMAGE_FOLDERS, (kb, shown_images), strict=True):
        _count_unfit_images(folder, shards, counts)
    return {name: float(counts[name]) for name in sorted(counts)}


def validate_triviaqa(folder: Path) -> dict[str, float]:
    """Check a folder of TriviaQA's questions, each of one split; returns how many each split has."""
    require_files(folder, QUESTIONS)
    return {f"triviaqa_{path.stem}": float(len(questions)) for path, questions in _read_splits(folder)}


def _read_splits(folder: Path) -> Iterator[tuple[Path, Sequence[Question]]]:
    """Stream the file and the questions of each split; a question of an earlier split is refused."""
    first: dict[str, str] = {}
    for name in QUESTIONS:
        path = folder / name
        questions = read_questions(path)
        for question in questions:
            if (other := first.setdefault(question.id, name)) != name:
                row = next(row for row, record in read_json_lines(path) if record["id"] == question.id)
                problem, expected = f"question id also in {other}", "every question in one split only"
                raise BadInput(problem, file=path, row=row, field="id", got=question.id, expected=expected)
        yield path, questions


def _check_entities(path: Path, kb: Images, counts: Counter[str]) -> dict[str, bool]:
    """Check the entities; returns whether the image of each is there."""
    shown: dict[str, bool] = {}
    for record in read_records(path, "id", "Wikidata item"):
        entity = parse_entity(record.value, file=path, row=record.row)
        for name in record.value.get("claims") or {}:
            if not (name[:1] == "P" and name[1:].isdecimal()):
                record["claims"].refuse("unknown property", got=name, choices=PROPERTIES)
            counts["entity_properties_not_used"] += name not in PROPERTIES
        image = entity.image(IMAGE_PROPERTIES)
        counts["entities"] += 1
        counts["entities_without_image"] += image is None
        counts["entities_whose_image_is_missing"] += image is not None and image not in kb
        shown[entity.id] = image is not None and image in kb
    return shown


def _check_articles(path: Path, shown: Mapping[str, bool], counts: Counter[str]) -> set[str]:
    """Check the articles; returns the ids of the entities that they are about."""
    described: set[str] = set()
    for record in read_records(path, "wikipedia_id", "article"):
        article = parse_article(record)
        if record.get("wikidata_info") is None:
            expected = 'an object with "wikidata_id", null where there is no entity'
            raise BadInput("missing", file=path, row=record.row, field="wikidata_info", expected=expected)
        described.add(article.wikidata_id or "")
        counts["articles"] += 1
        # Paragraph 0 is the title.
        counts["articles_without_text"] += not any(paragraph.strip() for paragraph in article.text[1:])
        counts["articles_without_entity"] += article.wikidata_id not in shown
        counts["articles_without_image"] += not shown.get(article.wikidata_id or "", False)
    return described


def _check_join(articles: Path, counts: Mapping[str, int]) -> None:
    """Warn of questions whose entity has no article; raise `BadInput` where they are more than one in ten."""
    questions = sum(counts[f"viquae_{Path(name).stem}"] for name in QUESTIONS)
    missing = counts["questions_whose_article_is_missing"]
    got = f"no article for the entities of {missing} of {questions} questions"
    if missing > questions / 10:
        problem, field = "questions and articles do not fit together", "wikidata_info.wikidata_id"
        raise BadInput(problem, file=articles, field=field, got=got, expected="an article for at least nine in ten")
    if missing:
        print(f"warning: {articles}: {got}", file=sys.stderr)


def _check_questions(path: Path, questions: Sequence[Question], images: Images, may_lack_images: bool) -> int:
    """Check a split of ViQuAE; returns how many questions have no image."""
    lacking = 0
    for (row, _), question in zip(read_json_lines(path), questions, strict=True):
        if question.image is None or question.image not in images:
            lacking += 1
            if not may_lack_images:
                problem, expected = "the question's image is missing", f"an image in {images.folder}"
                raise BadInput(problem, file=path, row=row, field="image", got=question.image, expected=expected)
        if question.wikidata_id is None:
            raise BadInput("missing", file=path, row=row, field="wikidata_id", expected="the entity shown")
    if lacking:
        print(f"warning: {path}: {lacking} of {len(questions)} questions have no image", file=sys.stderr)
    return lacking


def _count_unfit_images(folder: str, images: Images, counts: Counter[str]) -> None:
    """Read each image's header, and count those that are unreadable, tiny or huge."""
    for why in ("unreadable", "tiny", "huge"):
        counts[f"{folder}_images_{why}"] = 0
    for _, data in images.stream():
        counts[f"{folder}_images"] += 1
        try:
            with open_picture(data) as image:
                counts[f"{folder}_images_tiny"] += min(image.size) < SMALLEST_SIDE
        except Image.DecompressionBombError:
            counts[f"{folder}_images_huge"] += 1
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError):  # whatever Pillow's header readers raise
            counts[f"{folder}_images_unreadable"] += 1


PARTS = ("articles.jsonl", "wikidata.jsonl", "viquae", "images", "provenance")


@contextmanager
def write_parts(out: Path) -> Iterator[Path]:
    """Yield a folder beside `out`; when the block succeeds, its `PARTS` are moved to `out`, each in one step."""
    made = out.with_name(f"{out.name}.parts")
    with write_atomically(made) as temporary:
        yield temporary
        (temporary / "provenance").mkdir(exist_ok=True)  # empty for a sample
    for part in PARTS:
        with write_atomically(out / part) as target:
            shutil.move(made / part, target)
    remove_folder(made)


def leave_out_sources(triviaqa: Path, viquae: Path) -> dict[str, float]:
    """Remove from `train.jsonl` the questions from which those of ViQuAE, of any split, were made.

    The folders hold the questions of either set. Returns `triviaqa_train`, how many are left, and
    `triviaqa_train_seen_in_viquae`, how many were removed.
    """
    train = triviaqa / "train.jsonl"
    sources, _ = source_questions(viquae)
    kept = {question.id for question in read_questions(train) if normalize_question(question.text) not in sources}
    records = [record for _, record in read_json_lines(train)]
    if len(kept) < len(records):
        write_json_lines(train, (record for record in records if record["id"] in kept))
    return {"triviaqa_train": float(len(kept)), "triviaqa_train_seen_in_viquae": float(len(records) - len(kept))}


def check_kvqae(source: Path, out: Path) -> dict[str, float]:
    """Check a folder laid out as `data/kvqae/raw`, and copy it there except TriviaQA; returns counts.

    Images come as shards, or as plain files in `images/kb/` and `images/questions/`, which are packed into shards.
    `provenance/local.json` keeps the digests.
    """
    require_files(source, TABLES)
    with write_parts(out) as temporary:
        for folder in IMAGE_FOLDERS:
            bring_images(source / "images" / folder, temporary / "images" / folder)
        with naming(source, instead_of=temporary):
            counts = validate_kvqae(source, temporary / "images")
        bring(source, temporary, TABLES)
        write_json(temporary / "provenance" / "local.json", hash_files(temporary))
    return counts


def check_triviaqa(source: Path, viquae: Path, out: Path) -> dict[str, float]:
    """Check the user's `triviaqa/` and copy it without training questions from which ViQuAE's were made."""
    counts = validate_triviaqa(source)
    with write_atomically(out) as temporary:
        bring(source, temporary, QUESTIONS)
        counts |= leave_out_sources(temporary, viquae)
        write_json(temporary / PROVENANCE, hash_files(temporary))
    return counts


def bring_images(source: Path, out: Path) -> None:
    """Copy image shards, or pack plain image files into shards; `BadInput` when there are neither."""
    shards = sorted(source.glob("shard-*.parquet"))
    if shards:
        bring(source, out, (shard.name for shard in shards))
        return
    files = sorted(path for path in source.glob("*") if is_picture(path))
    if not files:
        raise BadInput("no images", file=source, expected="shard-*.parquet, or image files", choices=PICTURES)
    write_images(out, ((path.name, read_bytes(path, LARGEST_IMAGE)) for path in files))
