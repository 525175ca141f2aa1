"""Stages on a file system that really fills up: one clear line, nothing half-written, and the right result later."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml

from tests.kvqae.retrieval.test_dpr_training import PARAMETERS, write_world
from tests.kvqae.tiny_bert import WORDS, write_tiny_bert
from tests.small_disk import environment, run_twice, why_not
from trivium.core.tables import write_json_lines, write_table
from trivium.kvqae.retrieval.lucene import Searcher

pytestmark = pytest.mark.slow
KB, MANY = 6_000, 40_000  # passages


@dataclass(frozen=True)
class Stage:
    """A stage on small inputs: its parameters, options with a file or folder that it reads or writes, and others."""

    name: str
    parameters: dict[str, Any]
    inputs: dict[str, str]
    outputs: dict[str, str]
    words: tuple[str, ...] = ()

    def command(self, given: Path) -> list[str]:
        """The command line; inputs lie in `given`, outputs in the current folder."""
        options = {"--params": "params.yaml", **self.inputs}
        options = {option: str(given / path) for option, path in options.items()}
        options |= {"--metrics": "metrics.json", **self.outputs}
        words = [word for option in options.items() for word in option]
        return [sys.executable, "-m", f"stages.kvqae.{self.name}", *self.words, *words]


BM25 = Stage(
    "bm25_index",
    {"analyzer": "standard", "threads": 2, "heap_gib": 1},
    {"--passages": "many.parquet", "--articles": "articles.parquet"},
    {"--out-kb": "kb", "--out-wikipedia": "wikipedia"},
)
TRAINING = Stage(
    "dpr_pretrain",
    PARAMETERS,
    {f"--{name}": f"{name}.parquet" for name in ("train", "validation", "passages", "articles")}
    | {"--base": "bert", "--published": "published"},
    {"--out": "dpr"},
)
ENCODING = Stage(
    "encode_texts",
    {"max_tokens": 16, "batch_size": 64, "shard_size": 1000},
    {"--passages": "many.parquet", "--articles": "articles.parquet", "--questions": "train.jsonl"},
    {"--out": "embeddings"},
    ("--encoder", "dpr_few_shot"),
)
SEARCH = Stage(
    "dense_search",
    {"depth": 100, "index": "ivf_flat", "lists": 8, "probes": 2, "train_rows": 3000, "recall_questions": 7, "seed": 0},
    {"--embeddings": "vectors"},
    {"--out": "runs"},
)
STAGES = (BM25, TRAINING, ENCODING, SEARCH)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the stages read; the tests are skipped, with the reason, where no disk can be mounted."""
    folder = tmp_path_factory.mktemp("given")
    if reason := why_not(folder):
        pytest.skip(f"no small disk can be mounted here: {reason}")
    sections = {stage.name: stage.parameters for stage in STAGES}
    encoder = {"dpr_few_shot": {"model": str(folder / "towers")}}
    sections["text_encoders"] = encoder
    (folder / "params.yaml").write_text(yaml.safe_dump({"kvqae": sections, "run": {"workers": 1}}))
    write_world(folder)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS[:60], 6)) for _ in range(MANY)]
    table = pa.table({"article": np.arange(MANY) % 40, "text": texts})
    write_table(folder / "many.parquet", table.replace_schema_metadata({"kb_passages": str(KB)}))
    for tower in ("question", "passage"):
        write_tiny_bert(folder / "towers" / tower)
    output = {"original_answer": "x", "answer": ["x"]}
    write_json_lines(folder / "train.jsonl", [{"id": "a", "input": "who is w1 ?", "output": output}])
    (folder / "vectors").mkdir()
    np.save(folder / "vectors/kb.npy", rng.standard_normal((3000, 64)).astype(np.float16))
    np.save(folder / "vectors/kb_ids.npy", np.arange(3000))
    np.save(folder / "vectors/queries.npy", rng.standard_normal((400, 64)).astype(np.float16))
    questions = pa.table({"split": ["test"] * 400, "id": [f"q{row}" for row in range(400)]})
    write_table(folder / "vectors/queries.parquet", questions)
    return folder


@pytest.fixture(scope="module")
def undisturbed(given: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Stage], Path]:
    """The folder in which a stage has run with room."""

    @cache
    def run(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        stage = next(stage for stage in STAGES if stage.name == name)
        subprocess.run(stage.command(given), cwd=folder, env=environment(), check=True)
        return folder

    return lambda stage: run(stage.name)


def files(folder: Path, name: str) -> dict[str, bytes]:
    """The files of an output."""
    there = [folder / name] if (folder / name).is_file() else sorted((folder / name).rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in there if path.is_file()}


def rankings(folder: Path, name: str) -> list[list[int]]:
    """What an index finds: Lucene writes no two indexes of the same bytes."""
    searcher = Searcher(folder / name, threads=1, heap_gib=1)
    run = searcher.search([(word, word) for word in WORDS[:10]], k1=0.9, b=0.4, depth=100)
    return [*run.documents.tolist(), *run.scores.tolist()]


@pytest.mark.parametrize(
    ("stage", "kib", "target"),
    [
        pytest.param(BM25, 100, "kb", id="lucene-commit"),
        pytest.param(BM25, 400, "wikipedia", id="lucene-documents"),
        pytest.param(TRAINING, 100, ".work", id="checkpoint-safetensors"),
        pytest.param(TRAINING, 400, ".work", id="checkpoint-optimiser"),
        pytest.param(ENCODING, 300, "embeddings", id="matrix"),
        pytest.param(ENCODING, 600, "embeddings", id="shards"),
        pytest.param(SEARCH, 300, ".work", id="faiss"),
        pytest.param(SEARCH, 900, ".work", id="inverted-lists"),
        pytest.param(SEARCH, 1900, "runs", id="runs"),
    ],
)
def test_a_disk_that_fills_up(stage, kib, target, given, undisturbed, tmp_path):
    """What is left there are outputs that were finished before, and what the stage goes on from."""
    ran = run_twice(stage.command(given), tmp_path / "project", kib)
    *bars, line = [line for line in ran.said.splitlines() if not line.startswith("Picked up JAVA_TOOL_OPTIONS")]
    assert ran.code == 1
    assert line.startswith(f"kvqae.{stage.name}: {target}")
    assert line.endswith(": disk full while writing; nothing half-written is left, free some space and go on")
    assert not bars
    outputs = list(stage.outputs.values())
    whole = outputs[: outputs.index(target)] if target in outputs else []
    assert {Path(path).parts[0] for path in ran.left} <= {".work", *whole}
    assert not any(".partial" in path for path in ran.left)
    assert ran.again == 0, ran.said_again
    same = rankings if stage is BM25 else files
    for output in outputs:
        assert same(tmp_path / "project", output) == same(undisturbed(stage), output)
