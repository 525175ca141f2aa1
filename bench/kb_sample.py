"""A base of one's own made of the sample's entries, beside the graph: `python -m bench.kb_sample`.

Forty entries that test questions ask about become a folder, and all entries another one. Measured are the seconds from
the command to a base and from a question to its answer, hit@1 of the passages beside the graph's runs restricted to the
same entries, how often the entry is right, the calibration error of its probability, and the share of pictures of
other entries that is accepted as sure. It needs what `make repro P=kvqae` made in the current folder: without that it
says so, and measures and writes nothing.
"""

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import harness
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.tables import read_table
from trivium.formats.questions import Question, read_questions

ENTRIES, OTHERS, SEED = 40, 250, 0
RUNS = ("fused/dpr_few_shot_image", "reranked_text_image")  # of the graph: what `trivium ask` ranks by
LIMIT_SECONDS = 120  # from the command to an answer


class Sample:
    """What the graph has in a folder.

    Raises:
        BadInput: it is not built.
    """

    def __init__(self, root: Path) -> None:
        self.root, kvqae = root.resolve(), root.resolve() / "data/kvqae"
        if not (kvqae / "relevance/test_passage.qrels").exists():
            raise BadInput("not built: run `make repro P=kvqae` first", file=root)
        columns = ["title", "text", "image", "wikidata_id"]
        self.rows = read_table(kvqae / "kb/articles.parquet", columns).to_pylist()
        self.pictures = Images(kvqae / "raw/images/kb")
        self.photographs = Images(kvqae / "raw/images/questions")
        questions = read_questions(kvqae / "raw/viquae/test.jsonl")
        self.illustrated = {
            row["wikidata_id"]: row for row in self.rows if row["image"] is not None and row["image"] in self.pictures
        }
        self.questions = [
            each
            for each in questions
            if each.image is not None and each.image in self.photographs and each.wikidata_id in self.illustrated
        ]

    def write(self, folder: Path, entities: Sequence[str]) -> None:
        """Entries as a folder of texts and pictures."""
        folder.mkdir()
        for entity in entities:
            row = self.illustrated[entity]
            (folder / f"{entity}.md").write_text("\n\n".join([f"# {row['title']}", *row["text"]]), "utf-8")
            (folder / f"{entity}.jpg").write_bytes(self.pictures.read(row["image"]))

    def relevant(self) -> dict[str, set[int]]:
        """Question → passages that answer it, as the graph judged them."""
        found: dict[str, set[int]] = {}
        for line in (self.root / "data/kvqae/relevance/test_passage.qrels").read_text("utf-8").splitlines():
            question, _, passage, grade = line.split()
            if int(grade) > 0:
                found.setdefault(question, set()).add(int(passage))
        return found

    def passages(self) -> dict[tuple[str, str], int]:
        """(title, text) → number."""
        table = read_table(self.root / "data/kvqae/kb/passages.parquet", ["passage", "article", "text"]).to_pylist()
        return {(self.rows[each["article"]]["title"], each["text"]): each["passage"] for each in table}

    def graph(self, questions: Sequence[Question], inside: set[int]) -> dict[str, float]:
        """hit@1 of the graph's runs, of which only these passages are left."""
        from trivium.formats.trec import read_run

        relevant, found = self.relevant(), {}
        for name in RUNS:
            run = read_run(self.root / f"data/kvqae/runs/{name}/test.trec")
            documents = dict(zip(run.queries, run.documents.tolist(), strict=True))
            hits = []
            for question in questions:
                left = [each for each in documents.get(question.id, ()) if each in inside]
                hits.append(bool(left) and left[0] in relevant.get(question.id, ()))
            found[name] = float(np.mean(hits))
        return found


def measure(sample: Sample, folder: Path, entities: Sequence[str]) -> dict[str, Any]:
    """Figures of one base."""
    from trivium.commands.kb import BASE
    from trivium.commands.kb_models import foreign
    from trivium.kvqae.bases.asking import OpenBase
    from trivium.kvqae.bases.calibration import calibration_error
    from trivium.vision.decoding import decode

    sample.write(folder / "source", entities)
    started = time.perf_counter()
    command = [sys.executable, "-m", "trivium", "kb", str(folder / "source"), "--out", str(folder / "base")]
    subprocess.run([*command, "--checkout", str(sample.root)], check=True, stdout=subprocess.DEVNULL)
    made = time.perf_counter()
    base = OpenBase(folder / "base" / BASE, foreign)
    opened = time.perf_counter()
    numbers, relevant, titles = sample.passages(), sample.relevant(), set(base.titles)
    own = [each for each in sample.questions if each.wikidata_id in set(entities)]
    counts: Counter[str] = Counter()
    given: list[float] = []
    right: list[bool] = []
    for question in own:
        looked = base.recognise(_photograph(sample, question, decode))
        (best, *_), _, _ = base.retrieve(question.text, looked, 1)
        counts["hits"] += numbers[base.texts[best]] in relevant.get(question.id, ())
        counts["sure"] += looked.sure
        if (named := base.named(looked)) and named[0].probability is not None:
            given.append(named[0].probability)
            right.append(named[0].title == sample.illustrated[str(question.wikidata_id)]["title"])
            counts["sure_and_right"] += named[0].sure and right[-1]
    asked = time.perf_counter()
    others = {each.wikidata_id: each for each in sample.questions if each.wikidata_id not in set(entities)}
    accepted = [base.recognise(_photograph(sample, each, decode)).sure for each in list(others.values())[:OTHERS]]
    inside = {number for (title, _), number in numbers.items() if title in titles}
    figures = {
        "entries": len(entities),
        "questions": len(own),
        "seconds": {"command": made - started, "opening": opened - made, "a question": (asked - opened) / len(own)},
        "hit@1": counts["hits"] / len(own),
        "hit@1_of_the_graph": sample.graph(own, inside),
        "entry_right": float(np.mean(right)),
        "calibration_error": calibration_error(given, right),
        "sure": counts["sure"] / len(own),
        "sure_and_right": counts["sure_and_right"] / max(counts["sure"], 1),
    }
    return figures | ({"false_accepts": float(np.mean(accepted)), "others": len(accepted)} if accepted else {})


def _photograph(sample: Sample, question: Question, decode: Any) -> Any:
    return decode(sample.photographs.read(str(question.image)), max_side=1024, max_pixels=100_000_000)


def main(root: Path = Path()) -> None:
    try:
        sample = Sample(root)
    except BadInput as error:
        print(f"kb_sample: {error}", file=sys.stderr)
        return
    asked = sorted({str(each.wikidata_id) for each in sample.questions})
    few = sorted(np.random.default_rng(SEED).permutation(asked)[:ENTRIES].tolist())
    figures: dict[str, Any] = {"limit_seconds": LIMIT_SECONDS}
    for name, entities in (("few", few), ("all", list(sample.illustrated))):
        with tempfile.TemporaryDirectory() as folder:
            figures[name] = measure(sample, Path(folder), entities)
    harness.write("kb_sample", figures)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
