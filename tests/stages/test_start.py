"""Stages start at once: whatever takes long to import is imported where it is used, except for networks and searches."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

STAGES = [".".join(file.with_suffix("").parts) for file in sorted(Path("stages").rglob("[!_]*.py"))]
# thinc is spaCy's, and imports torch.
HEAVY = ("torch", "transformers", "pandas", "scipy", "faiss", "thinc", "matplotlib", "mlflow")
EXCEPTIONS = {
    "stages.complexity.annotate": "runs the frame parser",
    "stages.complexity.answer": "runs readers",
    "stages.complexity.contrasts": "trains readers",
    "stages.complexity.base_models": "makes stand-in encoders",
    "stages.complexity.finetune": "trains readers",
    "stages.complexity.frame_parser": "trains the frame parser",
    "stages.complexity.plain": "runs a reader and a frame parser",
    "stages.decorrelation.entities": "searches pictures",
    "stages.decorrelation.retrieve": "encodes pictures and captions",
    "stages.decorrelation.train": "trains the models",
    "stages.kvqae.base_models": "makes stand-in encoders",
    "stages.kvqae.dpr_finetune": "trains DPR",
    "stages.kvqae.dpr_pretrain": "trains DPR",
    "stages.kvqae.dense_search": "searches passages",
    "stages.kvqae.encode_texts": "encodes texts",
    "stages.kvqae.identify": "runs a reader",
    "stages.kvqae.image_features": "encodes pictures",
    "stages.kvqae.image_search": "searches pictures",
    "stages.kvqae.mention_model": "trains a spaCy pipeline",
    "stages.kvqae.name_search": "encodes names",
    "stages.kvqae.read": "runs readers",
    "stages.kvqae.reader_finetune": "trains the reader",
    "stages.kvqae.reader_pretrain": "trains the reader",
    "stages.kvqae.rerank_finetune": "trains the re-ranker",
    "stages.kvqae.rerank_pretrain": "trains the re-ranker",
    "stages.kvqae.rrt": "trains RRT",
}
# Heavy libraries cannot be imported here: a module that asks for one fails, and fails again in the next stage.
IMPORTER = """
import importlib, json, sys, traceback

class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name in heavy:
            by = next(f for f, _ in traceback.walk_stack(sys._getframe(1)) if "importlib" not in f.f_code.co_filename)
            asked[stage].append(f"{name}, by {by.f_globals['__name__']}")
            raise ImportError(name)

heavy, stages = map(json.loads, sys.argv[1:])
asked = {stage: [] for stage in stages}
sys.meta_path.insert(0, Refusal())
for stage in stages:
    try:
        importlib.import_module(stage)
    except ImportError:
        if not asked[stage]:
            raise
print(json.dumps(asked))
"""


@pytest.fixture(scope="module")
def asked() -> dict[str, list[str]]:
    """By stage, the heavy libraries that its import asks for, and which module does; all stages one after the other in one process."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTER, json.dumps(HEAVY), json.dumps(STAGES)], stdout=subprocess.PIPE, check=True
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_imports_heavy_libraries_only_for_networks_and_searches(stage, asked):
    if stage in EXCEPTIONS:
        assert asked[stage] != []  # else it is no exception any more
    else:
        assert asked[stage] == []


def test_exceptions_are_stages():
    assert set(EXCEPTIONS) <= set(STAGES)
