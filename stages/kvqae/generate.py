"""Stage `kvqae-generate`. TriviaQA's questions about entities made into questions about pictures (kvqae.md §2)."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json
from trivium.kvqae.construction.candidate_images import CandidateImagesParameters, write_candidates
from trivium.kvqae.construction.generation import write_questions
from trivium.kvqae.construction.linking import LinkParameters, write_links
from trivium.kvqae.construction.mentions import MentionsParameters, write_mentions
from trivium.kvqae.construction.subjects import write_subjects
from trivium.kvqae.knowledge_base.articles import KnowledgeBaseParameters


class GenerateParameters(MentionsParameters, LinkParameters, KnowledgeBaseParameters, CandidateImagesParameters):
    """Section `kvqae.generate`, of all steps."""

    elsewhere: ClassVar = {**KnowledgeBaseParameters.elsewhere, **CandidateImagesParameters.elsewhere}
    seed: int = Field(default=0, ge=0, description="Seed of the drawn mentions, with each question's key")


def main(
    parameters: GenerateParameters,
    context: Context,
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
    """Find mentions, link them, choose subjects and their pictures, and generate a question of each.

    Args:
        parameters: section `kvqae.generate`.
        context: of the harness.
        sources: what stage `kvqae-sources` wrote.
        model: folder of the spaCy pipeline.
        articles, wikidata, references: of the knowledge base: KILT's articles, entities, and shards of its images.
        out: folder of a table a step, and of the questions, which annotators judge.
        out_mentions_counts, out_link_counts, out_subjects_counts, out_images_counts: metrics of the steps before the
            last one, whose metrics are returned.
    """
    triviaqa, mentions, linked = sources / "triviaqa.json", out / "mentions.parquet", out / "linked.parquet"
    subjects, candidates = out / "subjects.parquet", out / "candidates.parquet"
    steps = {
        out_mentions_counts: write_mentions(parameters, triviaqa=triviaqa, model=model, out=mentions),
        out_link_counts: write_links(parameters, mentions=mentions, triviaqa=triviaqa, articles=articles, out=linked),
        out_subjects_counts: write_subjects(
            parameters,
            linked=linked,
            wikidata=sources / "wikidata.jsonl",
            kb_wikidata=wikidata,
            concrete_types=sources / "concrete_types.csv",
            out=subjects,
        ),
        out_images_counts: write_candidates(
            parameters,
            subjects=subjects,
            commons=sources / "commons.jsonl",
            images=sources / "images",
            kb_images=references,
            out=candidates,
        ),
    }
    for path, metrics in steps.items():
        write_json(path, metrics)
    return write_questions(subjects=subjects, candidates=candidates, out=out / "generated.jsonl", seed=parameters.seed)


if __name__ == "__main__":
    run_stage(main, "kvqae.generate", GenerateParameters, metrics="metrics/kvqae/generate.json")
