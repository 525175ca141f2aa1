"""Articles to passages, Parquet to Parquet, beside two peers: `python -m bench.passages`.

The articles are invented: 800 words drawn by Zipf's law from a vocabulary of 60 000, with punctuation, abbreviations,
figures and names in capitals. All load spaCy, read the same file, pack the same way and write the same passages; ours
runs as the stage does, with two workers. The popular way is spaCy's sentencizer, on a tenth of the articles. An expert
asks spaCy's tokenizer once for each stretch between spaces, takes plain words as they are, and finds sentences by a
regular expression over what the tokens are; one process is enough.
"""

import random
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench import harness
from stages.kvqae import knowledge_base
from trivium.core.atomic import write_atomically
from trivium.core.engine import LocalEngine
from trivium.core.tables import read_table, write_table
from trivium.kvqae.knowledge_base import passages as passages_library
from trivium.kvqae.knowledge_base.passages import PassagesParameters, Sentence

ARTICLES, WORDS, VOCABULARY = 3200, 800, 60_000
FEW = 10  # spaCy cuts one article of so many
WHY = (
    "stretches whose tokens depend on their neighbours, and sentences that begin within a stretch, are looked for, "
    "though these articles have none; and two processes are started, each with a memory of its own"
)
PARAMETERS = PassagesParameters(words=100, shard_size=128)


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
    passages_library.write_passages(PARAMETERS, LocalEngine(workers), articles=articles, out=out)


def by_spacy(articles: Path, out: Path) -> None:
    """A blank English pipeline with the sentencizer, the same packing, one process."""
    import spacy  # here, because the workers of our side import this module

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    write_passages(
        articles,
        out,
        lambda paragraphs: ((sent.text, len(sent)) for document in nlp.pipe(paragraphs) for sent in document.sents),
    )


class Kinds(dict[str, str]):
    """A letter a token of a stretch: it closes a sentence (C), is other punctuation (P), or neither (W)."""

    PLAIN = re.compile(r"""([("]?)([A-Za-z]*[a-z])([.!?]?)([,;:)"]?)""")

    def __init__(self) -> None:
        import spacy

        nlp: Any = spacy.blank("en")
        self._closing, self._tokenizer = frozenset(nlp.add_pipe("sentencizer").punct_chars), nlp.tokenizer
        self._rules = frozenset(self._tokenizer.rules)

    def __missing__(self, stretch: str) -> str:
        plain = self.PLAIN.fullmatch(stretch)
        if plain and self._rules.isdisjoint((plain[2], plain[2] + plain[3])):
            found = "P" * len(plain[1]) + "W" + "C" * len(plain[3]) + "P" * len(plain[4])
        else:
            tokens = self._tokenizer(stretch)
            found = "".join("C" if each.text in self._closing else "P" if each.is_punct else "W" for each in tokens)
        self[stretch] = found
        return found


def by_hand(articles: Path, out: Path) -> None:
    """The same as an expert would write it, for texts whose sentences begin after a space."""
    kinds, start = Kinds(), re.compile("C[^W]*W")

    def sentences(paragraphs: Iterable[str]) -> Iterator[Sentence]:
        for paragraph in paragraphs:
            stretches = paragraph.split(" ")
            found = " ".join([kinds[stretch] for stretch in stretches])
            first = begin = 0
            for end in [*(match.end() - 1 for match in start.finditer(found)), len(found) + 1]:
                part = found[begin : end - 1]
                spaces = part.count(" ")
                yield " ".join(stretches[first : first + spaces + 1]), len(part) - spaces
                first, begin = first + spaces + 1, end

    write_passages(articles, out, sentences)


def write_passages(articles: Path, out: Path, sentences: Callable[[Iterable[str]], Iterable[Sentence]]) -> None:
    """Pack the sentences of each article's paragraphs."""
    count = 0
    with (
        write_atomically(out) as beside,
        pq.ParquetWriter(beside, passages_library.SCHEMA, compression="zstd") as writer,
    ):
        for batch in pq.ParquetFile(articles).iter_batches(PARAMETERS.shard_size, columns=["article", "text"]):
            rows = []
            for article, paragraphs in zip(batch["article"].to_pylist(), batch["text"].to_pylist(), strict=True):
                for position, text in enumerate(passages_library.pack(sentences(paragraphs), PARAMETERS.words)):
                    rows.append({"passage": count, "article": article, "position": position, "text": text})
                    count += 1
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=passages_library.SCHEMA))


def check_same(ours: Path, theirs: Path, peer: str) -> None:
    """That both have written the same passages.

    Raises:
        AssertionError: they have not.
    """
    if not read_table(theirs).equals(read_table(ours)):
        raise AssertionError(f"the passages differ from those of {peer}")


def main() -> None:
    """Race, after all have written the same passages; measure memory as the articles grow ten times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = write_articles(folder / "small.parquet", ARTICLES // FEW)
        large = write_articles(folder / "large.parquet", ARTICLES)
        mine, theirs = folder / "ours.parquet", folder / "theirs.parquet"
        popular, expert = partial(by_spacy, small, theirs), partial(by_hand, large, theirs)
        for articles, peer, call in ((small, "spaCy", popular), (large, "an expert", expert)):
            ours(articles, mine, 2)
            call()
            check_same(mine, theirs, peer)
        race = harness.race(
            partial(ours, large, mine, 2),
            harness.Peer("spaCy's sentencizer", popular, 1 / FEW),
            harness.Peer("stretches remembered, a regular expression", expert),
            gigabytes=2e-9
            * sum(len(text) for texts in read_table(large, ["text"])["text"].to_pylist() for text in texts),
            why=WHY,
        )
        harness.write(
            "passages",
            {
                "articles": ARTICLES,
                "words_per_article": WORDS,
                "articles_per_second": ARTICLES / race["seconds"],
                "races": {f"{ARTICLES} articles": race},
                "peak_mib": harness.peak_memory(ours, small, mine, 1),
                "peak_mib_ten_times_the_articles": harness.peak_memory(ours, large, mine, 1),
                "spacy_mib": harness.peak_memory(by_spacy, small, theirs),
                "spacy_mib_ten_times_the_articles": harness.peak_memory(by_spacy, large, theirs),
                "versions": harness.versions("spacy", "pyarrow"),
            },
        )


if __name__ == "__main__":
    main()
