"""A project of Git and DVC whose stages have made small models and data sets of every library, as the graph does."""

import shutil
from functools import reduce
from pathlib import Path, PurePosixPath

import torch
import yaml
from transformers import BertConfig, BertForQuestionAnswering, BertForSequenceClassification, BertTokenizer

from tests import tiny_project
from tests.complexity.tiny_generators import write_llama, write_t5
from tests.complexity.tiny_readers import write_camembert
from tests.decorrelation.benchmark.benchmark_project import write_project
from tests.decorrelation.tiny_corpus import write_coco
from tests.decorrelation.tiny_models import CAPTIONS, SETTINGS, write_base
from tests.decorrelation.tiny_retrieval import painted, removals_of
from tests.kvqae.tiny_bert import SPECIAL, WORDS, write_tiny_bert
from trivium.complexity.readers.interface import READERS
from trivium.core.image_shards import write_images
from trivium.core.lock import Artifacts
from trivium.core.tables import write_json, write_json_lines
from trivium.decorrelation.models.kind import KINDS
from trivium.formats.picture_corpora import read_corpus

TOKENS, PAIR_TOKENS, LONGEST = 24, 32, 5
READER_BASES = {"camembert": write_camembert, "mt5": write_t5, "llama": write_llama}
CLIP, BLIP, VSE = "coco_clip_ours_0", "coco_blip_finetune_0", "coco_vse_finetune_0"
HUB = {"from": "timm/vit_tiny", "licence": "mit"}
PARAMETERS = {
    "world": {"coco": "sample", "decorrelation_models": "sample", "fquad": "local", "calor": "sample",
              "complexity_models": "hub"},
    "kvqae": {"texts": {"tokens": TOKENS, "pair_tokens": PAIR_TOKENS}, "reader": {"answer_tokens": LONGEST}},
    "decorrelation": {
        "cells": {
            CLIP: {"dataset": "coco", "model": "clip", "filling": "cv2", "captions": "grammatical", "queries": "cv2"},
            BLIP: {"dataset": "coco", "model": "blip", "filling": "none", "captions": "none", "queries": "cv2"},
            VSE: {"dataset": "coco", "model": "vse", "filling": "none", "captions": "none", "queries": "cv2"},
        },
        "train": {"models": {kind: {"base": kind} for kind in ("clip", "blip", "vse")}},
    },
}  # fmt: skip
KVQAE = "models/kvqae"
RAW = "data/decorrelation/raw/coco"
METRICS = {
    "validation_r@1": 0.5,
    "validation_mrr": 0.25,
    "validation_f1": 0.75,
    "validation_pictures": 9.0,
    "loss": 3.0,
}


def _stage(command: str, outs: list[str], deps: list[str] = (), params: list[str] = ()) -> dict:
    return {"cmd": f"true {command}", "deps": list(deps), "params": list(params), "outs": outs}


def stages() -> dict:
    """Names, sources and parameters as in the graph; the commands do nothing."""
    entries = {
        "kvqae-world": _stage("--source sample", ["data/kvqae/raw/viquae"]),
        "kvqae-base_models": _stage("--source sample", [f"{KVQAE}/base"]),
        "decorrelation-world@coco": _stage("", [RAW], params=["world.coco"]),
        "decorrelation-base_models": _stage("", ["models/decorrelation/base"], params=["world.decorrelation_models"]),
        "complexity-world": _stage("", ["data/complexity/raw"], params=["world.fquad", "world.calor"]),
        "complexity-base_models": _stage("", ["models/complexity/base"], params=["world.complexity_models"]),
        "decorrelation-inpaint@coco_cv2": _stage("", ["data/decorrelation/painted/coco/cv2"], [RAW]),
        "decorrelation-page_results": _stage(
            "", ["data/decorrelation/sets"], [RAW, "data/decorrelation/painted/coco/cv2"]
        ),
        "decorrelation-evaluate": _stage(
            "", ["metrics/decorrelation/evaluate.json"], [f"models/decorrelation/cells/{CLIP}"]
        ),
    }  # fmt: skip
    base = [f"{KVQAE}/base/text", "data/kvqae/raw/viquae"]
    for name, out, keys in (
        ("dpr_finetune", "dpr/few_shot", ["kvqae.texts.tokens"]),
        ("rerank_finetune", "cross_encoder/few_shot", ["kvqae.texts.pair_tokens"]),
        ("reader_finetune@few_shot-0", "reader/few_shot/seed-0", ["kvqae.texts.pair_tokens", "kvqae.reader"]),
    ):
        entries[f"kvqae-{name}"] = _stage("", [f"{KVQAE}/{out}", f"metrics/kvqae/{name}.json"], base, keys)
    for cell in (CLIP, BLIP, VSE):
        kind = cell.split("_")[1]
        entries[f"decorrelation-train@{cell}"] = _stage(
            "", [f"models/decorrelation/cells/{cell}", f"metrics/decorrelation/train_{cell}.json"],
            [RAW, "models/decorrelation/base"], [f"decorrelation.cells.{cell}", f"decorrelation.train.models.{kind}"],
        )  # fmt: skip
    for kind in READER_BASES:
        entries[f"complexity-finetune@{kind}-0"] = _stage(
            "", [f"models/complexity/readers/{kind}/seed-0", f"metrics/complexity/finetune_{kind}_0.json"],
            ["data/complexity/raw", "models/complexity/base"],
        )  # fmt: skip
    return entries


def write_shared_project(folder: Path, monkeypatch) -> Path:
    """The current folder is the project."""
    tiny_project.start(folder, {"params.yaml": yaml.safe_dump(PARAMETERS)}, monkeypatch)
    _write_kvqae(folder)
    _write_decorrelation(folder)
    _write_complexity(folder)
    for stage in stages().values():
        for out in stage["outs"]:
            if out.startswith("metrics/"):
                write_json(folder / out, METRICS)
    write_json(
        folder / "metrics/decorrelation/evaluate.json",
        {f"{CLIP}_synthetic_odmap@1": 0.625, f"{CLIP}_image_to_text_r@1": 0.5, f"{BLIP}_synthetic_odmap@1": 0.125},
    )
    (folder / "dvc.yaml").write_text("stages: {}\n")
    write_lock(folder)
    return folder


def write_lock(folder: Path) -> None:
    """`dvc.lock` as the stages would leave it, with what lies there and with the parameters as they are."""
    artifacts, parameters = Artifacts(folder), yaml.safe_load((folder / "params.yaml").read_text())

    def entry(path: str) -> dict[str, str]:
        return {"path": path, "md5": artifacts._hash(PurePosixPath(path))}

    def value(key: str):
        return reduce(lambda node, part: node[part], key.split(".", 3), parameters)

    locked = {
        name: stage
        | {"deps": [entry(path) for path in stage["deps"]], "outs": [entry(path) for path in stage["outs"]]}
        | {"params": {"params.yaml": {key: value(key) for key in stage["params"]}}}
        for name, stage in stages().items()
    }
    (folder / "dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": locked}))


def _write_kvqae(folder: Path) -> None:
    bert = write_tiny_bert(folder / KVQAE / "base/text")
    for seed, tower in enumerate(("question", "passage")):
        write_tiny_bert(folder / KVQAE / "dpr/few_shot" / tower, seed=seed)
    config = BertConfig.from_pretrained(bert)
    tokenizer = BertTokenizer(vocab={token: number for number, token in enumerate(SPECIAL + WORDS)})
    torch.manual_seed(3)
    config.num_labels = 1
    for model, place in (
        (BertForSequenceClassification(config), "cross_encoder/few_shot"),
        (BertForQuestionAnswering(BertConfig.from_pretrained(bert)), "reader/few_shot/seed-0"),
    ):
        model.save_pretrained(folder / KVQAE / place)
        tokenizer.save_pretrained(folder / KVQAE / place)
    line = {
        "id": "q1", "input": "who is w1 ?", "image": "Q1_1.png", "wikidata_id": "Q1", "kilt_id": "1", "url": "",
        "original_question": "who is the w1 ?", "output": {"original_answer": "w2", "answer": ["w2", "w3"],
        "provenance": []}, "meta": {"image": "File 1.png"},
    }  # fmt: skip
    for split in ("train", "validation", "test"):
        write_json_lines(folder / "data/kvqae/raw/viquae" / f"{split}.jsonl", [line | {"id": split}])


def _write_decorrelation(folder: Path) -> None:
    data, models = folder / "data/decorrelation", folder / "models/decorrelation"
    write_coco(data / "raw/coco")
    corpus = read_corpus(data / "raw/coco")
    images = [(removal.id, painted(row)) for row, removal in enumerate(removals_of(corpus, "test"))]
    write_images(data / "painted/coco/cv2/test", images)
    other = write_project(folder / "other")
    (other / "data/decorrelation/sets").rename(data / "sets")
    shutil.rmtree(other)
    for cell in (CLIP, BLIP, VSE):
        kind = cell.split("_")[1]
        base = write_base(kind, models / "base" / kind)
        write_json(
            base / "provenance.json", HUB if kind == "clip" else {"from": "a drawn one", "licence": "not stated"}
        )
        torch.manual_seed(0)
        KINDS[kind].model().start(base, SETTINGS[kind], CAPTIONS).save(models / "cells" / cell)


def _write_complexity(folder: Path) -> None:
    from tests.complexity.readers.test_kinds import told

    models = folder / "models/complexity"
    for name, write in READER_BASES.items():
        base = write(models / "base" / name)
        licence = "llama2" if name == "llama" else "mit"
        write_json(
            base / "provenance.json", {"from": f"owner/{name}" if name != "mt5" else "drawn", "licence": licence}
        )
    for kind in READERS:
        own = told(kind)
        torch.manual_seed(0)
        reader = READERS[kind].start(models / "base" / own.base, own)
        (models / "readers" / own.base / "seed-0").mkdir(parents=True)
        reader.save(models / "readers" / own.base / "seed-0")
    write_json(folder / "data/complexity/raw/calor.json", {})


def front_matter(card: str) -> dict:
    """Of a card."""
    return yaml.safe_load(card.split("---\n")[1])


def code_of(card: str) -> str:
    """The card's Python."""
    return card.split("```python\n")[1].split("```")[0]
