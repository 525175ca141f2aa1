"""Stage `kvqae-identify`. Let a model behind an endpoint choose the entity, and read its passages."""

from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from trivium.core.image_shards import Images
from trivium.core.parameters import shared
from trivium.core.stage import stage
from trivium.core.tables import read_table, write_json, write_table
from trivium.core.tracking import project_root
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run_over, write_run
from trivium.kvqae.knowledge_base import passage_texts
from trivium.kvqae.reader.identification import Identifier, choose, measure_lists, rank_within
from trivium.kvqae.reader.inputs import AnswerParameters
from trivium.kvqae.reader.prompted import JOURNAL, known_training
from trivium.kvqae.reader.reading import load_reader, read_pairs
from trivium.measures.reorder import best_passages
from trivium.measures.runs import PADDING
from trivium.measures.significance import fisher_randomization
from trivium.prompting.answer_cache import AnswerCache

TEST = "test.trec"


class IdentifyParameters(AnswerParameters):
    """Section `kvqae.identify`: nothing of its own; the reader of the first seed reads."""

    places: ClassVar = {"seeds": "kvqae.read.seeds"}
    settings: Identifier = shared("kvqae.identifiers.{identifier}", description="The entry in `kvqae.identifiers`")
    max_pixels: int = shared("kvqae.pictures.max_pixels", ge=1, description="Pictures with more are not decoded")


@stage("kvqae.identify", metrics="metrics/kvqae/identify_{identifier}.json")
def main(
    parameters: IdentifyParameters,
    *,
    identifier: str,
    run: Path,
    vectors: Path,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae/test.jsonl"),
    images: Path = Path("data/kvqae/{kvqae.dataset}/images/questions"),
    kb_images: Path = Path("data/kvqae/raw/images/kb"),
    kb: Path = Path("data/kvqae/kb"),
    readers: Path = Path("models/kvqae/reader/few_shot"),
    out_cache: Path = Path("data/kvqae/identify_cache/{identifier}"),
    out: Path = Path("data/kvqae/identified/{identifier}"),
) -> dict[str, float]:
    """Write `choices.parquet`, the run `test.trec` and `identifier.json` (who chose) into `out`; measure it.

    A question without a choice keeps the list of `run`. The lists of `run`, of the model's choices and of the right
    entities are measured as in Table 3 and read as in Table 7; so is the full oracle of `run`.
    """
    model = parameters.settings
    queries = read_questions(questions)
    retrieved = read_run_over(run / TEST, [question.id for question in queries])
    table = read_table(kb / passage_texts.ARTICLES, ["title", "image", "wikidata_id"]).to_pydict()
    passages_of = passage_texts.ArticlePassages(kb)
    best = best_passages(retrieved, passages_of.article_of).documents[:, : model.entities]
    candidates = [row[row != PADDING].tolist() for row in best]
    cache = AnswerCache(project_root() / JOURNAL)
    cache.merge(out_cache)
    choices, counts = choose(
        model, queries, candidates, table, Images(images), Images(kb_images), cache, max_pixels=parameters.max_pixels
    )
    cache.copy_to(out_cache)
    article_of = {entity: article for article, entity in enumerate(table["wikidata_id"]) if entity is not None}
    right = [article_of.get(question.wikidata_id or "") for question in queries]
    chosen = [choice.article for choice in choices]
    rank = partial(rank_within, retrieved, vectors, passages_of)
    lists = {"retrieval": retrieved, "identified": rank(chosen, "identified"), "known": rank(right, "known")}
    own = passage_texts.passages_of_articles(kb, {question.wikidata_id for question in queries})
    texts = passage_texts.read_passage_texts(kb, *(ranked.documents for ranked in lists.values()), *own.values())
    reader, tokenizer = load_reader(readers / f"seed-{parameters.seeds[0]}", parameters.max_tokens)
    read = partial(
        read_pairs, reader, tokenizer, texts=texts, max_tokens=parameters.max_tokens,
        longest=parameters.answer_tokens, batch=parameters.batch,
    )  # fmt: skip
    measured = measure_lists(lists, queries, texts, own, read, model.passages)

    write_run(out / TEST, lists["identified"])
    titles = [[table["title"][article] for article in row] for row in candidates]
    named = [None if article is None else table["title"][article] for article in chosen]
    is_right = [article is not None and article == entity for article, entity in zip(chosen, right, strict=True)]
    columns = {"question": [question.id for question in queries], "candidates": titles, "chosen": named}
    columns |= {"reply": [choice.reply for choice in choices], "right": is_right}
    write_table(out / "choices.parquet", pa.table(columns))
    record = {"label": model.label, "model": model.model, "known_training": known_training(model.model, model.label)}
    write_json(out / "identifier.json", record | {"entities": model.entities, "passages": model.passages})
    among = [article in row for article, row in zip(right, candidates, strict=True)]
    first = [row[:1] == [article] for article, row in zip(right, candidates, strict=True)]
    shares = {"right": is_right, "first_right": first, "among": among}
    metrics = {name: float(np.mean(values)) for name, values in shares.items()} | {"questions": float(len(queries))}
    metrics |= {f"{row}_{name}": float(v.mean()) for row, values in measured.items() for name, v in values.items()}
    for name in ("mrr", "em"):
        pair = np.array([measured["identified"][name], measured["retrieval"][name]])
        metrics[f"{name}_p"] = float(fisher_randomization(pair, permutations=parameters.permutations)[0][1])
    return metrics | {name: float(count) for name, count in counts.items()}
