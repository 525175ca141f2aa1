"""Articles to passages, Parquet to Parquet, against plain spaCy in one process: `python -m bench.passages`.

The articles are invented: 800 words drawn by Zipf's law from a vocabulary of 60 000, with punctuation, abbreviations,
figures and names in capitals. Both sides load spaCy, read the same file, pack the same way and write the same passages,
which is checked; ours runs as the stage does, with two workers.
"""

import random
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench import harness
from stages.kvqae import knowledge_base, passages
from trivium.files.atomic import write_atomically
from trivium.files.tables import read_table, write_table
from trivium.harness.engine import LocalEngine
from trivium.harness.stage import Context
from trivium.harness.tracking import Tracker
from trivium.kvqae.knowledge_base import passages as passages_library

ARTICLES, WORDS, VOCABULARY = 3200, 800, 60_000
PARAMETERS = passages.PassagesParameters(words=100, shard_size=128)


def sentences(seed: int) -> Iterator[str]:
    """Invented sentences without end."""
    rng = random.Random(seed)
    letters = "etaoinshrdlcumwfgypbvk"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 11))) for _ in range(VOCABULARY)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
    decorations = ["{},", "({})", '"{}"', "{}'s", "{}-19", "Dr. {}", "{};", "18{} in 1874,", "{} e.g.", "U.S. {}"]
    while True:
        drawn = rng.choices(words, cum_weights=weights, k=rng.randint(8, 36))
        for place in range(2, len(drawn), 6):
            drawn[place] = rng.choice(decorations).format(drawn[place])
        drawn[1] = drawn[1].capitalize()
        yield " ".join(drawn).capitalize() + rng.choice("....?!")


def write_articles(path: Path, number: int) -> Path:
    """Write invented articles, half of them with an image."""
    source = sentences(seed=0)

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, number, 64):
            rows = []
            for article in range(start, min(start + 64, number)):
                paragraphs: list[str] = []
                while sum(paragraph.count(" ") for paragraph in paragraphs) < WORDS:
                    paragraphs.append(" ".join(next(source) for _ in range(4)))
                image = "image.jpg" if article < number // 2 else None
                rows.append({"article": article, "title": "Title", "image": image, "text": paragraphs})
            yield pa.RecordBatch.from_pylist(rows, schema=knowledge_base.SCHEMA)

    write_table(path, batches(), knowledge_base.SCHEMA)
    return path


def ours(articles: Path, out: Path, workers: int) -> None:
    """The stage."""
    context = Context(tracker=Tracker(), work=out.parent, engine=LocalEngine(workers))
    passages.main(PARAMETERS, context, articles=articles, out=out)


def peer(articles: Path, out: Path) -> None:
    """A blank English pipeline with the sentencizer, the same packing, one process."""
    import spacy  # here, because the workers of our side import this module

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    count = 0
    with (
        write_atomically(out) as beside,
        pq.ParquetWriter(beside, passages_library.SCHEMA, compression="zstd") as writer,
    ):
        for batch in pq.ParquetFile(articles).iter_batches(PARAMETERS.shard_size, columns=["article", "text"]):
            rows = []
            for article, paragraphs in zip(batch["article"].to_pylist(), batch["text"].to_pylist(), strict=True):
                found = ((sent.text, len(sent)) for document in nlp.pipe(paragraphs) for sent in document.sents)
                for position, text in enumerate(passages_library.pack(found, PARAMETERS.words)):
                    rows.append({"passage": count, "article": article, "position": position, "text": text})
                    count += 1
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=passages_library.SCHEMA))


def main() -> None:
    """Time both, compare what they write, and measure memory as the articles grow ten times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = (
            write_articles(folder / "small.parquet", ARTICLES // 10),
            write_articles(folder / "a.parquet", ARTICLES),
        )
        theirs, mine = folder / "peer.parquet", folder / "ours.parquet"
        peer(small, theirs)
        ours(small, mine, 2)
        seconds = {
            "spacy": harness.once(partial(peer, large, theirs)),
            "ours": harness.once(partial(ours, large, mine, 2)),
        }
        if not read_table(theirs).equals(read_table(mine)):
            raise AssertionError("the passages differ from spaCy's")
        harness.write(
            "passages",
            {
                "articles": ARTICLES,
                "words_per_article": WORDS,
                "seconds": seconds,
                "articles_per_second": {side: ARTICLES / value for side, value in seconds.items()},
                "ratio": seconds["spacy"] / seconds["ours"],
                "peak_mib": harness.peak_memory(ours, small, mine, 1),
                "peak_mib_ten_times_the_articles": harness.peak_memory(ours, large, mine, 1),
                "spacy_mib": harness.peak_memory(peer, small, theirs),
                "spacy_mib_ten_times_the_articles": harness.peak_memory(peer, large, theirs),
                "versions": harness.versions("spacy", "pyarrow"),
            },
        )


if __name__ == "__main__":
    main()
