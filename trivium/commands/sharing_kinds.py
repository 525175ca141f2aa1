"""The files of each kind of output that `trivium push` can share, one function a pattern of `sharing.yaml`."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from json import dumps
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trivium.commands.sharing import (
    KINDS,
    Artifact,
    Prepared,
    card_of,
    kvqae_start,
    pattern_of,
    read_lineage,
    shareable,
    start_in,
)
from trivium.complexity.readers.interface import SETTINGS
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.tables import read_json, read_json_lines, read_table, write_table
from trivium.formats.questions import SPLITS
from trivium.formats.squad import read_squad
from trivium.kvqae.asking.artifacts import Artifacts
from trivium.nets.cards import CARD
from trivium.nets.open_clip_folder import CONFIG as OPEN_CLIP

OURS = "No public library loads it; this project's does: `pip install .` in its repository."
EVALUATED = "metrics/decorrelation/evaluate.json"
MEASURES = ("synthetic_odmap@1", "synthetic_odmap@5", "synthetic_odmap@10", "synthetic_removed_named",
            "image_to_text_r@1", "text_to_image_r@1")  # fmt: skip
ANSWERS = pa.struct([("text", pa.list_(pa.string())), ("answer_start", pa.list_(pa.int32()))])
SQUAD = pa.schema([*((name, pa.string()) for name in ("id", "title", "context", "question")), ("answers", ANSWERS)])


def _names(artifact: Artifact) -> dict[str, str]:
    """The target as code names it: `name` for libraries, `where` for this project's own."""
    name = dumps(artifact.target)
    return {
        "name": name,
        "where": f'__import__("huggingface_hub").snapshot_download({name})' if artifact.hub else name,
        "shot": artifact.source.name.replace("_", "-"),
    }


def prepare_dpr(artifact: Artifact) -> Prepared:
    """DPR's two encoders as one model of sentence-transformers: questions take one way, passages the other."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Router, Transformer

    tokens = int(artifact.lineage.parameters["kvqae.texts.tokens"])
    towers = {}
    for way in ("question", "passage"):
        bert = Transformer(
            str(artifact.source / way),
            max_seq_length=tokens,
            model_kwargs={"add_pooling_layer": False, "use_safetensors": True, "local_files_only": True},
            processor_kwargs={"local_files_only": True},
        )
        towers[way] = [bert, Pooling(int(bert.auto_model.config.hidden_size), "cls")]
    router = Router.for_query_document(towers["question"], towers["passage"])
    model = SentenceTransformer(modules=[router], device="cpu", similarity_fn_name="dot", trust_remote_code=False)
    model.save_pretrained(str(artifact.work), create_model_card=False)
    files = {str(path.relative_to(artifact.work)): path for path in artifact.work.rglob("*") if path.is_file()}
    return Prepared(files, {**_names(artifact), "tokens": tokens}, kvqae_start(artifact.project, artifact.lineage))


def prepare_cross_encoder(artifact: Artifact) -> Prepared:
    """The text re-ranker, which sentence-transformers reads as it is."""
    words = {**_names(artifact), "tokens": int(artifact.lineage.parameters["kvqae.texts.pair_tokens"])}
    return Prepared(artifact.files(), words, kvqae_start(artifact.project, artifact.lineage))


def prepare_passage_reader(artifact: Artifact) -> Prepared:
    """The reader of several passages, which transformers reads as it is."""
    parameters = artifact.lineage.parameters
    words = {
        **_names(artifact),
        "shot": ", ".join(artifact.path.split("/")[3:]).replace("_", "-"),
        "tokens": int(parameters["kvqae.texts.pair_tokens"]),
        "longest": parameters["kvqae.reader"]["answer_tokens"],
    }
    return Prepared(artifact.files(), words, kvqae_start(artifact.project, artifact.lineage))


def prepare_mention_model(artifact: Artifact) -> Prepared:
    """The spaCy pipeline that finds mentions, where it was trained here."""
    if not (artifact.source / "meta.json").is_file():
        raise BadInput("it only names an installed pipeline of spaCy: there is nothing to share", file=artifact.source)
    return Prepared(artifact.files(), _names(artifact), variant="hub" if artifact.hub else "folder")


def prepare_rrt(artifact: Artifact) -> Prepared:
    """The image re-ranker, where it was trained here; the authors' own stays theirs."""
    if artifact.lineage.data.get("photographs of landmarks") == "hub":
        raise BadInput("the authors' weights, which nothing here has changed", file=artifact.source)
    if not (artifact.source / "model.safetensors").is_file():
        raise BadInput("no re-ranker was trained here (kvqae.rrt.use)", file=artifact.source)
    return Prepared(artifact.files(), _names(artifact))


def prepare_french_reader(artifact: Artifact) -> Prepared:
    """Readers of French in transformers' format; adapters in peft's, which name their base model on the hub."""
    settings = read_json(artifact.source / SETTINGS)
    start = start_in(artifact.project / "models/complexity/base" / settings["base"])
    files = artifact.files()
    if settings["kind"] == "causal":
        if start.hub_name is None:
            problem = "an adapter of weights that nobody else has: without them it is nothing"
            raise BadInput(problem, file=artifact.source, got=start.name, expected="a base model of the hub")
        config = read_json(artifact.source / "adapter_config.json") | {"base_model_name_or_path": start.hub_name}
        files = {**artifact.files("base.json"), "adapter_config.json": json.dumps(config, indent=2).encode()}
    types = (
        settings["kind"] == "extractive" and read_json(artifact.source / "config.json").get("type_vocab_size", 1) > 1
    )
    words = {
        **_names(artifact),
        "label": settings["label"],
        "seed": artifact.source.name,
        "base": dumps(start.hub_name),
        "tokens": settings["max_tokens"],
        "longest": settings["answer_tokens"],
        # Segments as in training: of some tokenizers, CamemBERT's among them, they are not the tokenizer's own.
        "types": 'inputs["token_type_ids"] = (inside.cumsum(0) > 0).long()[None]\n' if types else "",
        "template": dumps(settings.get("template"), ensure_ascii=False),
    }
    weak = "A small configuration that hardly reads: it shows that the path works, no more."
    return Prepared(files, words, start, settings["kind"], notes=(weak,) if settings.get("weak") else ())


def prepare_frame_parser(artifact: Artifact) -> Prepared:
    """The parser of French frames: an encoder in transformers' format, and heads of our own."""
    return Prepared(artifact.files(), _names(artifact), start_in(artifact.project / "models/complexity/base/camembert"))


def prepare_retrieval_model(artifact: Artifact) -> Prepared:
    """Cells of decorrelation: CLIP in open_clip's format, BLIP in transformers', VSE++ in this project's."""
    cell = artifact.source.name
    settings = artifact.lineage.parameters[f"decorrelation.cells.{cell}"]
    base = artifact.lineage.parameters[f"decorrelation.train.models.{settings['model']}"]["base"]
    config = read_json(artifact.source / "config.json")
    words: dict[str, Any] = {
        **_names(artifact),
        "network": config["kind"].upper(),
        "cell": cell,
        "tokens": config.get("text_tokens"),
    }
    files, notes = artifact.files(), [_trained_on(settings, cell)]
    if config["kind"] == "clip":
        words["name"] = dumps(f"{'hf-hub' if artifact.hub else 'local-dir'}:{artifact.target}")
        if artifact.hub and "tokenizer.json" in files:  # which open_clip looks for where the configuration says
            clip = read_json(artifact.source / OPEN_CLIP)
            clip["model_cfg"]["text_cfg"]["hf_tokenizer_name"] = artifact.target
            files[OPEN_CLIP] = json.dumps(clip, indent=2).encode()
    elif config["kind"] == "blip":
        files["preprocessor_config.json"] = _blip_preparation(config["vision_config"]["image_size"])
        notes.append(
            "The graph adds the matching head's logit to the cosines of the best candidates; the code below compares "
            "embeddings alone."
        )
    else:
        notes.append(OURS)
    return Prepared(
        files,
        words,
        start_in(artifact.project / "models/decorrelation/base" / base),
        config["kind"] if config["kind"] in ("clip", "blip") else "ours",
        tuple(notes),
        _odmap(artifact, cell),
    )


def _trained_on(settings: Mapping[str, Any], cell: str) -> str:
    if "zero_shot" in cell:
        return "These are the weights that the others start from, untouched."
    dataset = settings["dataset"]
    if settings["filling"] == "none":
        return f"Fine-tuned on {dataset} as it is: the model that decorrelated ones are compared with."
    return (
        f"Fine-tuned on {dataset} and on D′: pictures of it from which an object was painted out (filling "
        f"`{settings['filling']}`), with captions that no longer name it (`{settings['captions']}`)."
    )


def _blip_preparation(side: int) -> bytes:
    """Of BLIP's pictures, as `decorrelation/models/blip.py` has it: both sides scaled, bicubic, CLIP's statistics."""
    from PIL.Image import Resampling
    from transformers import BlipImageProcessor

    from trivium.decorrelation.models.interface import CLIP

    mean, deviation = CLIP
    processor = BlipImageProcessor(
        size={"height": side, "width": side},
        resample=Resampling.BICUBIC,
        image_mean=list(mean),
        image_std=list(deviation),
    )
    return processor.to_json_string().encode()


def _odmap(artifact: Artifact, cell: str) -> dict[str, float]:
    """What the graph found when it asked this very model; nothing where it did not, or has asked another one since."""
    if not (artifact.project / EVALUATED).is_file():
        return {}
    try:
        Artifacts(artifact.project).use(EVALUATED)
    except BadInput:
        return {}
    values = read_json(artifact.project / EVALUATED)
    return {name: float(values[f"{cell}_{name}"]) for name in MEASURES if f"{cell}_{name}" in values}


def prepare_partitions(artifact: Artifact) -> Prepared:
    """The parts of the evaluation set, a configuration each, in SQuAD's columns; their own cards become notes."""
    files: dict[str, Path | bytes] = {}
    notes = []
    for folder in sorted(path for path in artifact.source.iterdir() if path.is_dir()):
        text = (folder / CARD).read_text("utf-8").split("---\n", 2)[-1]
        lines = [line for line in text.splitlines() if not line.startswith(("- format:", "- cut from:"))]
        notes.append("\n".join(f"##{line}" if line.startswith("#") else line for line in lines).strip())
        rows = [
            {
                "id": question.id,
                "title": question.title,
                "context": question.context,
                "question": question.question,
                "answers": {
                    "text": [text for text, _ in question.answers],
                    "answer_start": [start for _, start in question.answers],
                },
            }
            for question in read_squad(folder / "data.json").questions
        ]
        name = f"{folder.name}/test.parquet"
        write_table(artifact.work / name, pa.Table.from_pylist(rows, SQUAD))
        files[name] = artifact.work / name
    names = [name.split("/")[0] for name in files]
    configs = {name: {"test": f"{name}/*.parquet"} for name in names}
    return Prepared(files, {**_names(artifact), "first": dumps(names[0])}, notes=tuple(notes), configs=configs)


def prepare_painted_queries(artifact: Artifact) -> Prepared:
    """ODmAP's queries: test pictures from which an object was painted out, with what went and what stayed."""
    dataset, filling = artifact.path.split("/")[3:]
    if not (artifact.source / "test").is_dir():
        raise BadInput("no test picture was painted over", file=artifact.source)
    removals = artifact.project / "data/decorrelation/removals" / dataset / "removals.parquet"
    columns = ["removal", "picture", "split", "class", "removed", "remaining"]
    known = {row["removal"]: row for row in read_table(removals, columns).to_pylist() if row["split"] == "test"}
    rows = (
        {
            "image": {"bytes": data, "path": None},
            "id": name,
            **{column: known[name][column] for column in ("picture", "class", "removed", "remaining")},
        }
        for name, data in Images(artifact.source / "test").stream()
        if name in known
    )
    values = {"id": "string", "picture": "int64", "class": "string"}
    words = {**_names(artifact), "dataset": dataset, "filling": filling}
    return _data_set(artifact, {"test": rows}, values, ["removed", "remaining"], words)


def prepare_decorrelated_pairs(artifact: Artifact) -> Prepared:
    """D′: training pictures from which an object was painted out, with captions that do not name it; a row a pair."""
    dataset = artifact.path.split("/")[3]
    filling, _, captions = artifact.source.stem.rpartition("_")
    pairs = read_table(artifact.source, ["removal", "picture", "caption", "text"])
    if not len(pairs):
        raise BadInput("no pair: this is D alone", file=artifact.source)
    images = Images(artifact.project / "data/decorrelation/painted" / dataset / filling / "train")
    rows = (
        {"image": {"bytes": images.read(row["removal"]), "path": None}, **row}
        for batch in pairs.to_batches(256)
        for row in batch.to_pylist()
    )
    values = {"removal": "string", "picture": "int64", "caption": "int64", "text": "string"}
    words = {**_names(artifact), "dataset": dataset, "filling": filling, "captions": captions, "pairs": len(pairs)}
    return _data_set(artifact, {"train": rows}, values, [], words)


def prepare_rebuilt_questions(artifact: Artifact) -> Prepared:
    """The questions about pictures that the construction has built again, every question with its picture."""
    images = Images(artifact.source / "images" / "questions")
    rows = {split: _questions(artifact.source / "viquae" / f"{split}.jsonl", images) for split in SPLITS}
    texts = ("id", "question", "original_question", "answer", "wikidata_id", "kilt_id", "image_name", "commons_name")
    return _data_set(artifact, rows, dict.fromkeys(texts, "string"), ["answers"], _names(artifact))


def _questions(file: Path, images: Images) -> Iterator[dict[str, Any]]:
    for _, line in read_json_lines(file):
        yield {
            "image": {"bytes": images.read(line["image"]), "path": None},
            "id": line["id"],
            "question": line["input"],
            "original_question": line["original_question"],
            "answer": line["output"]["original_answer"],
            "answers": line["output"]["answer"],
            "wikidata_id": line["wikidata_id"],
            "kilt_id": line["kilt_id"],
            "image_name": line["image"],
            "commons_name": line["meta"]["image"],
        }


def _data_set(
    artifact: Artifact,
    splits: Mapping[str, Iterator[dict[str, Any]]],
    values: Mapping[str, str],
    lists: list[str],
    words: Mapping[str, Any],
) -> Prepared:
    """Write rows with an `image` as Parquet that `datasets` decodes as pictures.

    Args:
        artifact: the output.
        splits: split → rows, {"image": {"bytes": …, "path": None}, …}.
        values: {column: its type}.
        lists: columns that are lists of strings.
        words: see `Prepared`.
    """
    from datasets import Features, Image, List, Value

    texts = {name: List(Value("string")) for name in lists}
    schema = Features({"image": Image(), **{name: Value(kind) for name, kind in values.items()}, **texts}).arrow_schema
    files: dict[str, Path | bytes] = {}
    for split, rows in splits.items():
        path = artifact.work / f"{split}.parquet"
        with pq.ParquetWriter(path, schema, compression="none") as writer:
            while batch := list(islice(rows, 256)):
                writer.write_table(pa.Table.from_pylist(batch, schema))
        files[f"data/{split}-00000-of-00001.parquet"] = path
    return Prepared(files, words, configs={"default": {split: f"data/{split}-*" for split in splits}})


PREPARE: dict[str, Callable[[Artifact], Prepared]] = {
    "models/kvqae/dpr/*": prepare_dpr,
    "models/kvqae/cross_encoder/*": prepare_cross_encoder,
    "models/kvqae/reader/zero_shot": prepare_passage_reader,
    "models/kvqae/reader/*/seed-*": prepare_passage_reader,
    "models/kvqae/spacy": prepare_mention_model,
    "models/kvqae/rrt": prepare_rrt,
    "models/complexity/readers/*/seed-*": prepare_french_reader,
    "models/complexity/frame_parser": prepare_frame_parser,
    "models/decorrelation/cells/*": prepare_retrieval_model,
    "data/complexity/partitions": prepare_partitions,
    "data/decorrelation/painted/*/*": prepare_painted_queries,
    "data/decorrelation/pairs/*/*.parquet": prepare_decorrelated_pairs,
    "data/kvqae/rebuilt": prepare_rebuilt_questions,
}


@contextmanager
def packed(project: Path, path: str, target: str, *, hub: bool) -> Iterator[dict[str, Path | bytes]]:
    """The files of an output, its card among them, while the block runs.

    Args:
        project: the repository of the graph.
        path: of the output there.
        target: the folder or repository, which the card's code names.
        hub: whether it is a repository.

    Raises:
        BadInput: no such output, none that leaves, or one that is not what `dvc.lock` says.
    """
    path = str(PurePosixPath(path))
    pattern = pattern_of(path)
    if pattern is None:
        raise BadInput("not an output that can be shared", got=path, choices=shareable(project))
    lineage = read_lineage(project, path)
    with tempfile.TemporaryDirectory(prefix="trivium-push-") as work:
        artifact = Artifact(project, path, lineage, target, hub, Path(work))
        prepared = PREPARE[pattern](artifact)
        yield {CARD: card_of(artifact, KINDS[pattern], prepared).encode(), **prepared.files}
