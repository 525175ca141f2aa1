"""Stage `kvqae-link`. Mentions matched to TagMe's links whose article has the answer."""

from pathlib import Path

import pyarrow as pa
from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_table
from trivium.formats.triviaqa import read_triviaqa
from trivium.kvqae.construction.linking import LINK_SCHEMA, link_all, read_linked_articles
from trivium.kvqae.construction.mentions import read_mentions


class LinkParameters(Parameters):
    """Section `kvqae.link`."""

    max_distance: float = Field(ge=0, le=1, description="Largest distance of mention and link, in [0, 1]")


def main(
    parameters: LinkParameters,
    context: Context,
    *,
    mentions: Path = Path("data/kvqae/construction/mentions.parquet"),
    triviaqa: Path = Path("data/kvqae/sources/triviaqa.json"),
    articles: Path = Path("data/kvqae/raw/articles.jsonl"),
    out: Path = Path("data/kvqae/construction/linked.parquet"),
) -> dict[str, float]:
    """Write the mentions that stand for one of TagMe's links, with its article and the question's answers."""
    found = read_mentions(mentions)
    wanted = {mention.question for mention in found}
    questions = {question.id: question for question in read_triviaqa(triviaqa) if question.id in wanted}
    for row, mention in enumerate(found, 1):
        question = questions.get(mention.question)
        if question is None or question.text != mention.text:
            problem = "mention of a question that TriviaQA does not have in these words"
            raise BadInput(problem, file=mentions, row=row, field="question", got=mention.question)
    linked = read_linked_articles(articles, questions.values())
    rows, metrics = link_all(found, questions, linked, max_distance=parameters.max_distance)
    write_table(out, pa.Table.from_pylist(rows, schema=LINK_SCHEMA))
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.link", LinkParameters, metrics="metrics/kvqae/link.json")
