"""Stage `kvqae-generate`. Convert TriviaQA's questions about entities to questions about pictures (kvqae.md §2)."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import Field

from trivium.core.stage import stage
from trivium.core.tables import write_json, write_json_lines, write_table
from trivium.formats.triviaqa import read_triviaqa
from trivium.formats.wikidata import WikidataFile
from trivium.kvqae.construction import candidate_images
from trivium.kvqae.construction.generation import generate_questions
from trivium.kvqae.construction.linking import LINK_SCHEMA, link_mentions, read_linked_articles
from trivium.kvqae.construction.mentions import MENTION_SCHEMA, MentionsParameters, find_mentions
from trivium.kvqae.construction.subjects import SUBJECT_SCHEMA, add_subjects, read_concrete_types
from trivium.kvqae.knowledge_base.articles import KnowledgeBaseParameters


class GenerateParameters(MentionsParameters, KnowledgeBaseParameters, candidate_images.CandidateImagesParameters):
    """Section `kvqae.generate`: parameters of all steps."""

    max_distance: float = Field(ge=0, le=1, description="Largest distance of mention and link, in [0, 1]")
    seed: int = Field(default=0, ge=0, description="Seed of the drawn mentions, with each question's key")


@stage("kvqae.generate", metrics="metrics/kvqae/generate.json")
def main(
    parameters: GenerateParameters,
    *,
    sources: Path = Path("data/kvqae/sources"),
    model: Path = Path("models/kvqae/spacy"),
    articles: Path = Path("data/kvqae/raw/articles.jsonl"),
    wikidata: Path = Path("data/kvqae/raw/wikidata.jsonl"),
    references: Path = Path("data/kvqae/raw/images/kb"),
    out: Path = Path("data/kvqae/construction"),
    out_mentions_counts: Path = Path("metrics/kvqae/mentions.json"),
    out_link_counts: Path = Path("metrics/kvqae/link.json"),
    out_subjects_counts: Path = Path("metrics/kvqae/subjects.json"),
    out_images_counts: Path = Path("metrics/kvqae/candidate_images.json"),
) -> dict[str, float]:
    """Find mentions, link them, choose subjects and their pictures, and generate a question from each.

    Each step's table is written beside the questions.
    """
    from trivium.kvqae.construction.spacy_pipeline import load_pipeline  # spaCy takes seconds

    def keep(
        name: str, schema: pa.Schema, made: tuple[list[dict[str, Any]], dict[str, float]], counts: Path
    ) -> list[dict[str, Any]]:
        rows, metrics = made
        write_table(out / f"{name}.parquet", pa.Table.from_pylist(rows, schema=schema))
        write_json(counts, metrics)
        return rows

    mentions, metrics = find_mentions(read_triviaqa(sources / "triviaqa.json"), load_pipeline(model), parameters)
    keep("mentions", MENTION_SCHEMA, (list(map(vars, mentions)), metrics), out_mentions_counts)
    ids = {mention.question for mention in mentions}
    questions = {question.id: question for question in read_triviaqa(sources / "triviaqa.json") if question.id in ids}
    linked = read_linked_articles(articles, questions.values())
    links = link_mentions(mentions, questions, linked, max_distance=parameters.max_distance)
    rows = keep("linked", LINK_SCHEMA, links, out_link_counts)
    entities, base = WikidataFile(sources / "wikidata.jsonl"), WikidataFile(wikidata)
    concrete = read_concrete_types(sources / "concrete_types.csv")
    subjects = add_subjects(rows, entities, base, concrete, parameters.image_properties)
    rows = keep("subjects", SUBJECT_SCHEMA, subjects, out_subjects_counts)
    commons, images = sources / "commons.jsonl", sources / "images"
    pictures = candidate_images.find_candidates(rows, parameters, commons=commons, images=images, kb_images=references)
    candidates = keep("candidates", candidate_images.SCHEMA, pictures, out_images_counts)
    generated, metrics = generate_questions(
        rows, {row["key"]: row["images"] for row in candidates}, seed=parameters.seed
    )
    write_json_lines(out / "generated.jsonl", generated)
    return metrics
