"""BM25's index and search compared with bm25s and Anserini: `python -m bench.bm25`.

The expert's choice is Anserini itself. Its `IndexCollection` indexes the same documents from a file of JSON lines, in
this process's Java machine; ours passes Python's texts through pyserini's bridge. Its `SimpleSearcher.batch_search`
returns the same ids and scores from Java as ours, in one call. All use the same analyzer (no stems, no stop words, no
possessive 's in the texts), k1, b and depth. bm25s has Lucene's formula, but exact lengths where Lucene keeps them in a
byte, so its best documents are compared by the share that both find. The limit of the search is reading the postings of
its words; scoring and fetching the stored fields of hits take the rest.
"""

import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, count
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from bench import harness
from trivium.kvqae.retrieval.bm25 import Searcher, _java, build_index, hits_writer

DOCUMENTS, WORDS, QUESTIONS, DEPTH, K1, B, HEAP = 20_000, 100, 200, 100, 0.9, 0.4, 2
VOCABULARY = 60_000  # drawn by Zipf's law
SHARED = 0.95  # least share of each list that bm25s must have too
INDEX_WHY = (
    "every document crosses from Python into Java as JSON, so that what is indexed is never written to disk twice"
)
SEARCH_WHY = "hits are ranked again, with ties by lower id, and checked"


def sentences(seed: int) -> Iterator[str]:
    """Yield invented sentences without end."""
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


def world() -> tuple[list[str], list[tuple[str, str]]]:
    """Invent passages, and questions of words of one of them each."""
    source, rng = sentences(seed=0), random.Random(1)
    texts = []
    for _ in range(DOCUMENTS):
        words: list[str] = []
        while len(words) < WORDS:
            words += "".join(letter if letter.isalpha() else " " for letter in next(source).lower()).split()
        texts.append(" ".join(words[:WORDS]))
    queries = [" ".join(rng.sample(text.split(), 6)) for text in rng.sample(texts, QUESTIONS)]
    return texts, [(f"q{number:04}", text) for number, text in enumerate(queries)]


def anserini_index(autoclass: Any, source: Path, target: Path) -> None:
    """Index with Anserini's own command."""
    arguments = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator", "-input", str(source)]
    arguments += ["-index", str(target), "-threads", "1", "-stemmer", "none", "-keepStopwords", "-quiet"]
    autoclass("io.anserini.index.IndexCollection").main(arguments)


def anserini_search(
    autoclass: Any, searcher: Any, writer: Any, questions: Sequence[tuple[str, str]]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Search by Anserini's own batches; returns ids and scores, (questions, depth)."""
    texts, names = (autoclass("java.util.ArrayList")() for _ in range(2))
    for name, text in questions:
        texts.add(text)
        names.add(name)
    hits = json.loads(writer.writeValueAsString(searcher.batch_search(texts, names, DEPTH, 1)))
    ids, scores = ([[hit[field] for hit in hits[name]] for name, _ in questions] for field in ("docid", "score"))
    return np.array(ids).astype(np.int64), np.array(scores, np.float32)


def bm25s_index(texts: Sequence[str]) -> tuple[bm25s.BM25, Any]:
    """Index by bm25s in memory; returns index and tokenizer."""
    tokenizer = bm25s.tokenization.Tokenizer(stopwords=None, splitter=str.split)
    retriever = bm25s.BM25(method="lucene", k1=K1, b=B)
    retriever.index(tokenizer.tokenize(list(texts), show_progress=False), show_progress=False)
    return retriever, tokenizer


def bm25s_search(retriever: bm25s.BM25, tokenizer: Any, questions: Sequence[tuple[str, str]]) -> Any:
    """Search by bm25s; returns the rows of the best documents."""
    tokens = tokenizer.tokenize([text for _, text in questions], update_vocab=False, show_progress=False)
    return retriever.retrieve(tokens, k=DEPTH, show_progress=False).documents


def main() -> None:
    """Race indexing and searching, after checking that all find the same."""
    texts, questions = world()
    autoclass, number = _java(HEAP), count()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "json").mkdir()
        with (folder / "json" / "passages.jsonl").open("w") as file:
            for row, text in enumerate(texts):
                file.write(json.dumps({"id": f"{row:010d}", "contents": text}) + "\n")

        def fresh() -> Path:
            for old in folder.glob("index-*"):
                shutil.rmtree(old)
            return folder / f"index-{next(number)}"

        def index(target: Path) -> None:
            build_index(target, enumerate(texts), analyzer="standard", threads=1, heap_gib=HEAP)

        index(folder / "ours")
        anserini_index(autoclass, folder / "json", folder / "theirs")
        retriever, tokenizer = bm25s_index(texts)
        searcher = Searcher(folder / "ours", threads=1, heap_gib=HEAP)
        run = searcher.search(questions, k1=K1, b=B, depth=DEPTH)
        theirs = autoclass("io.anserini.search.SimpleSearcher")(str(folder / "theirs"))
        theirs.set_analyzer(searcher._searcher.analyzer)
        theirs.set_bm25(K1, B)
        search = partial(anserini_search, autoclass, theirs, hits_writer(autoclass), questions)
        nearest, scores = search()
        np.testing.assert_array_equal(run.documents, np.take_along_axis(nearest, np.lexsort((nearest, -scores)), 1))
        np.testing.assert_array_equal(run.scores, scores)
        shared = np.mean(
            [
                np.isin(*pair).mean()
                for pair in zip(run.documents, bm25s_search(retriever, tokenizer, questions), strict=True)
            ]
        )
        if shared < SHARED:
            raise AssertionError(f"bm25s finds other documents: {shared} are the same")
        holding = Counter(chain.from_iterable(set(text.split()) for text in texts))  # passages, by word
        postings = sum(holding[word] for _, text in questions for word in set(text.split()))
        races = {
            f"index of {DOCUMENTS} passages": harness.race(
                lambda: index(fresh()),
                harness.Peer("bm25s", lambda: bm25s_index(texts)),
                harness.Peer("Anserini", lambda: anserini_index(autoclass, folder / "json", fresh())),
                gigabytes=1e-9 * sum(map(len, texts)),
                why=INDEX_WHY,
            ),
            f"{QUESTIONS} questions": harness.race(
                lambda: searcher.search(questions, k1=K1, b=B, depth=DEPTH),
                harness.Peer("bm25s", lambda: bm25s_search(retriever, tokenizer, questions)),
                harness.Peer("Anserini", search),
                gigabytes=2e-9 * postings,  # a document's number and a count take a byte each at least
                why=SEARCH_WHY,
            ),
        }
    harness.write(
        "bm25",
        {
            "documents": DOCUMENTS,
            "words_a_document": WORDS,
            "depth": DEPTH,
            "share_found_by_bm25s_too": float(shared),
            "races": races,
            "versions": harness.versions("bm25s", "pyserini"),
        },
    )


if __name__ == "__main__":
    main()
