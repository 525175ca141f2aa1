"""Convert records of the hub's data sets to the formats that the stages read: KILT articles, Wikidata JSON, questions.

`datasets` turns a list of structures into a structure of lists, so that one field comes in two shapes,
`"text": ["…"]` or `"text": {"paragraph": ["…"]}`; both are accepted everywhere.

A smaller knowledge base consists of the questions' subjects, hard negatives and a random draw from all articles with an
image. Hard negatives are the articles that BM25 returns for the questions, by rank. Which articles are chosen depends
neither on the order of articles nor on that of questions.
"""

import hashlib
import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field
from tqdm import tqdm

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.tables import read_json, write_json, write_json_lines
from trivium.formats.questions import SPLITS, Question, read_questions
from trivium.kvqae.knowledge_base.articles import clean_paragraphs
from trivium.kvqae.retrieval.bm25 import Searcher, build_index
from trivium.sources.brought import read_records

HUMAN = "Q5"
VIQUAE_FIELDS = ("image", "wikidata_id", "kilt_id", "url", "original_question")
KB_PARTS = {"humans_with_faces": True, "humans_without_faces": True, "non_humans": False}
K1, B = 0.5, 0.3  # of the paper's BM25 (kvqae.md §3)
PAGES = "pages.json"


def to_article(record: dict[str, Any], file: Path, row: int) -> dict[str, Any]:
    """Make a KILT article with the fields that are used."""
    info = record.get("wikidata_info") or {}
    return {
        "wikipedia_id": _require_text(record, "wikipedia_id", file, row),
        "wikipedia_title": _require_text(record, "wikipedia_title", file, row),
        "text": _read_strings(record.get("text"), "paragraph"),
        "wikidata_info": {
            "wikidata_id": info.get("wikidata_id"),
            "aliases": _read_strings(info.get("aliases"), "alias"),
        },
    }


def to_entity(record: dict[str, Any], human: bool, file: Path, row: int) -> dict[str, Any]:
    """Make the Wikidata entity of an article of ViQuAE's knowledge base, as far as that set describes it.

    The set says whether the entity is a human (instance of Q5) and which image its authors chose (given as P18,
    whichever property it came from); it has neither type, occupation nor gender.
    """
    info = record.get("wikidata_info") or {}
    label = info.get("wikidata_label") or record.get("wikipedia_title") or ""
    claims = {"P31": [_make_claim("P31", "wikibase-item", {"id": HUMAN, "entity-type": "item"})]} if human else {}
    if record.get("image"):
        claims["P18"] = [_make_claim("P18", "commonsMedia", record["image"])]
    aliases = [{"language": "en", "value": alias} for alias in _read_strings(info.get("aliases"), "alias")]
    return {
        "id": _require_text(info, "wikidata_id", file, row),
        "type": "item",
        "labels": {"en": {"language": "en", "value": label}},
        "aliases": {"en": aliases} if aliases else {},
        "claims": claims,
    }


def human_type() -> dict[str, Any]:
    """Make the entity Q5, to which `to_entity` refers."""
    return to_entity({"wikidata_info": {"wikidata_id": HUMAN, "wikidata_label": "human"}}, False, Path(), 0)


def to_question(record: dict[str, Any], file: Path, row: int) -> dict[str, Any]:
    """Make a question with its answers; `output` is one structure (ViQuAE) or a list, one a valid answer (KILT).

    Where in Wikipedia the answers stand is left out: no stage reads it.
    """
    output = record.get("output")
    several = output if isinstance(output, list) else [output or {}]
    answers = list(dict.fromkeys(answer for one in several for answer in _read_strings(one.get("answer")) if answer))
    original = next((one["original_answer"] for one in several if one.get("original_answer")), None)
    if original is None and not answers:
        raise BadInput("no answer", file=file, row=row, field="output.answer", got=output, expected="at least one")
    kept: dict[str, Any] = {name: record[name] for name in VIQUAE_FIELDS if record.get(name)}
    return {
        "id": _require_text(record, "id", file, row),
        "input": _require_text(record, "input", file, row),
        **kept,
        "output": {"original_answer": original or answers[0], "answer": answers or [original]},
    }


def _make_claim(prop: str, datatype: str, value: str | dict[str, str]) -> dict[str, Any]:
    kind = "string" if isinstance(value, str) else "wikibase-entityid"
    snak = {"snaktype": "value", "property": prop, "datatype": datatype, "datavalue": {"type": kind, "value": value}}
    return {"rank": "normal", "mainsnak": snak}


def _require_text(record: dict[str, Any], field: str, file: Path, row: int) -> str:
    value = record.get(field)
    if value is None or value == "":
        raise BadInput("missing", file=file, row=row, field=field, choices=record)
    return str(value)


def _read_strings(value: Any, key: str | None = None) -> list[str]:
    """Return the strings of a list, of a structure of lists, or a single string as a list."""
    if isinstance(value, dict) and key is not None:
        value = value.get(key)
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value if item is not None]


class SmallerBaseParameters(Parameters):
    """How many articles the knowledge base has, and which."""

    articles: int = Field(ge=1, description="Articles: subjects, then hard negatives, then a draw of the rest")
    negatives: int = Field(default=25_000, ge=0, description="Most hard negatives: best by BM25 for any question")
    depth: int = Field(default=100, ge=1, description="Articles a question that BM25 returns")
    seed: int = Field(default=0, ge=0, description="Of the draw")
    threads: int = Field(default=4, ge=1, description="Threads of indexing and of searching")
    heap_gib: int = Field(default=4, ge=1, description="Memory of the Java machine, GiB")


def write_smaller_base(
    raw: Path, parts: Mapping[str, Path], base: SmallerBaseParameters, index: Path
) -> dict[str, float]:
    """Choose articles, and write `articles.jsonl` and `wikidata.jsonl` of them into a folder with `viquae/`.

    `parts` has the file of each part of `KB_PARTS`. `index` is the folder of the index of all articles, which is built
    unless it is there. Returns counts.
    """
    if not index.exists():
        with write_atomically(index) as temporary:
            pages: dict[str, int] = {}
            build_index(
                temporary / "bm25", _read_documents(parts, pages), analyzer="standard", threads=base.threads,
                heap_gib=base.heap_gib,
            )  # fmt: skip
            write_json(temporary / PAGES, pages)
    pages = read_json(index / PAGES)
    questions = [question for split in SPLITS for question in read_questions(raw / "viquae" / f"{split}.jsonl")]
    subjects = {question.wikidata_id for question in questions if question.wikidata_id}
    shown = {pages[subject] for subject in subjects if subject in pages}
    negatives, drawn = choose(shown, _find_best_ranks(questions, base, index), pages.values(), base)
    counts: Counter[str] = Counter(base_subjects=len(shown), base_subjects_without_article=len(subjects) - len(shown))
    counts.update(base_negatives=len(negatives), base_drawn=len(drawn), base_chosen_from=len(pages), entities_twice=0)
    chosen = {*shown, *negatives, *drawn}
    entities: list[dict[str, Any]] = [human_type()]

    def articles() -> Iterator[dict[str, Any]]:
        for part, page, entity, article in read_once(parts, counts):
            if page in chosen:
                entities.append(entity)
                counts[f"entities_{part}"] += 1
                yield article

    counts["articles"] = write_json_lines(raw / "articles.jsonl", articles())
    write_json_lines(raw / "wikidata.jsonl", entities)
    return {name: float(count) for name, count in counts.items()}


def choose(
    subjects: Collection[int], ranks: Mapping[int, int], pages: Iterable[int], base: SmallerBaseParameters
) -> tuple[list[int], list[int]]:
    """Choose hard negatives, of better ranks first, and draw from all other pages; neither holds a subject.

    `ranks` has the best rank of each page that BM25 returned for any question. Pages of the same rank are taken in the
    random order of the draw.
    """
    room = base.articles - len(subjects)
    if room < 0:
        field, expected = "kvqae.world.base.articles", f"at least {len(subjects)}, the questions' subjects"
        raise BadInput("too small a base", field=field, got=base.articles, expected=expected)

    def lot(page: int) -> bytes:
        return hashlib.blake2b(f"{base.seed} {page}".encode(), digest_size=16).digest()

    hard = sorted(ranks.keys() - set(subjects), key=lambda page: (ranks[page], lot(page)))
    hard = hard[: min(base.negatives, room)]
    chosen = {*subjects, *hard}
    return hard, heapq.nsmallest(room - len(hard), (page for page in pages if page not in chosen), key=lot)


def _find_best_ranks(questions: Sequence[Question], base: SmallerBaseParameters, index: Path) -> dict[int, int]:
    """Return the best rank, from 0, of each page that BM25 returns for any question."""
    searcher = Searcher(index / "bm25", threads=base.threads, heap_gib=base.heap_gib)
    run = searcher.search([(question.id, question.text) for question in questions], k1=K1, b=B, depth=base.depth)
    best: dict[int, int] = {}
    for documents in run.documents.tolist():
        for rank, page in enumerate(documents):
            if page >= 0:
                best[page] = min(rank, best.get(page, rank))
    return best


def _read_documents(parts: Mapping[str, Path], pages: dict[str, int]) -> Iterator[tuple[int, str]]:
    """Stream (page, title and text); `pages` receives the page of each entity."""
    for _, page, entity, article in read_once(parts, Counter()):
        pages[entity["id"]] = page
        yield page, " ".join([article["wikipedia_title"], *clean_paragraphs(article["text"])])


def read_once(
    parts: Mapping[str, Path], counts: Counter[str]
) -> Iterator[tuple[str, int, dict[str, Any], dict[str, Any]]]:
    """Stream (part, page, entity, article); a second article of a page or entity is counted and left out."""
    pages: set[int] = set()
    entities: set[str] = set()
    for part, human in KB_PARTS.items():
        path = parts[f"{part}.jsonl.gz"]
        for row, record in tqdm(read_records(path), desc=part, unit="article", mininterval=5, leave=False):
            article, entity = to_article(record, path, row), to_entity(record, human, path, row)
            page = article["wikipedia_id"]
            if not (page.isascii() and page.isdecimal()):
                problem, expected = "not a page's number", "digits, as Wikipedia numbers its pages"
                raise BadInput(problem, file=path, row=row, field="wikipedia_id", got=page, expected=expected)
            if int(page) in pages or entity["id"] in entities:
                counts["entities_twice"] += 1
                continue
            pages.add(int(page))
            entities.add(entity["id"])
            yield part, int(page), entity, article
