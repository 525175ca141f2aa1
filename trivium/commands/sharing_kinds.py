"""The files of outputs that `trivium push` does not share as they are, one function a pattern of `sharing.yaml`."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trivium.commands.sharing import KINDS, Output, Prepared, card_of, pattern_of, read_output, shareable, start_in
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


def prepare_dpr(output: Output) -> Prepared:
    """DPR's two encoders as one model of sentence-transformers: questions take one way, passages the other."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Router, Transformer

    towers = {}
    for way in ("question", "passage"):
        bert = Transformer(
            str(output.source / way),
            max_seq_length=int(output.parameter("kvqae.texts.tokens")),
            model_kwargs={"add_pooling_layer": False, "use_safetensors": True, "local_files_only": True},
            processor_kwargs={"local_files_only": True},
        )
        towers[way] = [bert, Pooling(int(bert.auto_model.config.hidden_size), "cls")]
    router = Router.for_query_document(towers["question"], towers["passage"])
    model = SentenceTransformer(modules=[router], device="cpu", similarity_fn_name="dot", trust_remote_code=False)
    model.save_pretrained(str(output.work), create_model_card=False)
    return Prepared({str(path.relative_to(output.work)): path for path in output.work.rglob("*") if path.is_file()})


def prepare_rrt(output: Output) -> Prepared:
    """The image re-ranker, where it was trained here; the authors' own stays theirs."""
    if output.data.get("photographs of landmarks") == "hub":
        raise BadInput("the authors' weights, which nothing here has changed", file=output.source)
    return Prepared(output.files())


def prepare_french_reader(output: Output) -> Prepared:
    """Readers of French in transformers' format; adapters in peft's, which name their base model on the hub."""
    settings = read_json(output.source / SETTINGS)
    start = start_in(output.project / "models/complexity/base" / settings["base"])
    files, types = output.files(), ""
    if settings["kind"] == "causal":
        if start.hub_name is None:
            problem = "an adapter of weights that nobody else has: without them it is nothing"
            raise BadInput(problem, file=output.source, got=start.name, expected="a base model of the hub")
        config = read_json(output.source / "adapter_config.json") | {"base_model_name_or_path": start.hub_name}
        files = {**output.files("base.json"), "adapter_config.json": json.dumps(config, indent=2).encode()}
    elif settings["kind"] == "extractive" and read_json(output.source / "config.json").get("type_vocab_size", 1) > 1:
        # Segments as in training: of some tokenizers, CamemBERT's among them, they are not the tokenizer's own.
        types = 'inputs["token_type_ids"] = (inside.cumsum(0) > 0).long()[None]\n'
    words = {
        "label": settings["label"],
        "seed": output.source.name,
        "base": json.dumps(start.hub_name),
        "tokens": settings["max_tokens"],
        "longest": settings["answer_tokens"],
        "types": types,
        "template": json.dumps(settings.get("template"), ensure_ascii=False),
    }
    weak = "A small configuration that hardly reads: it shows that the path works, no more."
    return Prepared(files, words, start, settings["kind"], notes=(weak,) if settings.get("weak") else ())


def prepare_retrieval_model(output: Output) -> Prepared:
    """Cells of decorrelation: CLIP in open_clip's format, BLIP in transformers', VSE++ in this project's."""
    cell, config = output.source.name, read_json(output.source / "config.json")
    settings = output.parameter(f"decorrelation.cells.{cell}")
    base = output.parameter(f"decorrelation.train.models.{settings['model']}.base")
    words: dict[str, Any] = {"network": config["kind"].upper(), "cell": cell, "tokens": config.get("text_tokens")}
    files, notes, variant = output.files(), [_trained_on(settings, cell)], config["kind"]
    if variant == "clip":
        words["name"] = json.dumps(f"{'hf-hub' if output.hub else 'local-dir'}:{output.target}")
        if output.hub and "tokenizer.json" in files:  # which open_clip looks for where the configuration says
            clip = read_json(output.source / OPEN_CLIP)
            clip["model_cfg"]["text_cfg"]["hf_tokenizer_name"] = output.target
            files[OPEN_CLIP] = json.dumps(clip, indent=2).encode()
    elif variant == "blip":
        files["preprocessor_config.json"] = _blip_preparation(config["vision_config"]["image_size"])
        notes.append(
            "The graph adds the matching head's logit to the cosines of the best candidates; the code below compares "
            "embeddings alone."
        )
    else:
        variant = "ours"
        notes.append(OURS)
    start = start_in(output.project / "models/decorrelation/base" / base)
    return Prepared(files, words, start, variant, tuple(notes), _odmap(output, cell))


def _trained_on(settings: Mapping[str, Any], cell: str) -> str:
    if "zero_shot" in cell:
        return "These are the weights that the others start from, untouched."
    if settings["filling"] == "none":
        return f"Fine-tuned on {settings['dataset']} as it is: the model that decorrelated ones are compared with."
    return (
        f"Fine-tuned on {settings['dataset']} and on D′: pictures of it from which an object was painted out (filling "
        f"`{settings['filling']}`), with captions that no longer name it (`{settings['captions']}`)."
    )


def _blip_preparation(side: int) -> bytes:
    """Of BLIP's pictures, as `decorrelation/models/blip.py` has it: both sides scaled, bicubic, CLIP's statistics."""
    from PIL.Image import Resampling
    from transformers import BlipImageProcessor

    from trivium.decorrelation.models.interface import CLIP

    mean, deviation = map(list, CLIP)
    size = {"height": side, "width": side}
    made = BlipImageProcessor(size=size, resample=Resampling.BICUBIC, image_mean=mean, image_std=deviation)
    return made.to_json_string().encode()


def _odmap(output: Output, cell: str) -> dict[str, float]:
    """What the graph found when it asked this very model; nothing where it did not, or has asked another one since."""
    if not (output.project / EVALUATED).is_file():
        return {}
    try:
        Artifacts(output.project).use(EVALUATED)
    except BadInput:
        return {}
    values = read_json(output.project / EVALUATED)
    return {name: float(values[f"{cell}_{name}"]) for name in MEASURES if f"{cell}_{name}" in values}


def prepare_frame_parser(output: Output) -> Prepared:
    """A parser as it is; a linear one has no encoder and starts from no weights."""
    files = output.files()
    return Prepared(files, variant="tagger" if any(name.startswith("encoder/") for name in files) else "linear")


def prepare_partitions(output: Output) -> Prepared:
    """The parts of the evaluation set, a configuration each, in SQuAD's columns; their own cards become notes."""
    files: dict[str, Path | bytes] = {}
    notes: list[str] = []
    configs: dict[str, dict[str, str]] = {}
    for folder in sorted(path for path in output.source.iterdir() if path.is_dir()):
        text = (folder / CARD).read_text("utf-8").split("---\n", 2)[-1]
        lines = [line for line in text.splitlines() if not line.startswith(("- format:", "- cut from:"))]
        notes.append("\n".join(f"##{line}" if line.startswith("#") else line for line in lines).strip())
        rows = []
        for question in read_squad(folder / "data.json").questions:
            row = {name: getattr(question, name) for name in ("id", "title", "context", "question")}
            answers = {"text": [text for text, _ in question.answers],
                       "answer_start": [start for _, start in question.answers]}  # fmt: skip
            rows.append({**row, "answers": answers})
        name = f"{folder.name}/test.parquet"
        files[name] = output.work / name
        write_table(output.work / name, pa.Table.from_pylist(rows, SQUAD))
        configs[folder.name] = {"test": f"{folder.name}/*.parquet"}
    return Prepared(files, {"first": json.dumps(next(iter(configs)))}, notes=tuple(notes), configs=configs)


def prepare_painted_queries(output: Output) -> Prepared:
    """ODmAP's queries: test pictures from which an object was painted out, with what went and what stayed."""
    dataset, filling = output.path.split("/")[3:]
    removals = output.project / "data/decorrelation/removals" / dataset / "removals.parquet"
    values = {"picture": "int64", "class": "string", "removed": None, "remaining": None}
    table = read_table(removals, ["removal", "split", *values]).to_pylist()
    known = {row["removal"]: {name: row[name] for name in values} for row in table if row["split"] == "test"}
    images = Images(output.source / "test")
    rows = ({"image": _picture(data), "id": name, **known[name]} for name, data in images.stream() if name in known)
    return _data_set(output, {"test": rows}, {"id": "string", **values}, {"dataset": dataset, "filling": filling})


def prepare_released_sets(output: Output) -> Prepared:
    """What `trivium odmap` asks, as it is: a configuration a data set."""
    files = output.files()
    first = next(iter(files)).removesuffix(".parquet")
    words = {"first": json.dumps(first), "dataset": first.partition("_")[0], "target": output.target}
    return Prepared(files, words, configs={name.removesuffix(".parquet"): {"test": name} for name in files})


def prepare_decorrelated_pairs(output: Output) -> Prepared:
    """D′: training pictures from which an object was painted out, with captions that do not name it; a row a pair."""
    dataset = output.path.split("/")[3]
    filling, _, captions = output.source.stem.rpartition("_")
    values = {"removal": "string", "picture": "int64", "caption": "int64", "text": "string"}
    pairs = read_table(output.source, list(values))
    if not len(pairs):
        raise BadInput("no pair: this is D alone", file=output.source)
    images = Images(output.project / "data/decorrelation/painted" / dataset / filling / "train")
    batches = (batch.to_pylist() for batch in pairs.to_batches(256))
    rows = ({"image": _picture(images.read(row["removal"])), **row} for batch in batches for row in batch)
    words = {"dataset": dataset, "filling": filling, "captions": captions, "pairs": len(pairs)}
    return _data_set(output, {"train": rows}, values, words)


def prepare_rebuilt_questions(output: Output) -> Prepared:
    """The questions about pictures that the construction has built again, every question with its picture."""
    images = Images(output.source / "images" / "questions")
    texts = ("id", "question", "original_question", "answer", "wikidata_id", "kilt_id", "image_name", "commons_name")
    rows = {split: _questions(output.source / "viquae" / f"{split}.jsonl", images) for split in SPLITS}
    return _data_set(output, rows, {**dict.fromkeys(texts, "string"), "answers": None}, {})


def _questions(file: Path, images: Images) -> Iterator[dict[str, Any]]:
    for _, line in read_json_lines(file):
        yield {
            **{name: line[name] for name in ("id", "original_question", "wikidata_id", "kilt_id")},
            "image": _picture(images.read(line["image"])),
            "question": line["input"],
            "answer": line["output"]["original_answer"],
            "answers": line["output"]["answer"],
            "image_name": line["image"],
            "commons_name": line["meta"]["image"],
        }


def _picture(data: bytes) -> dict[str, Any]:
    return {"bytes": data, "path": None}


def _data_set(
    output: Output,
    splits: Mapping[str, Iterator[dict[str, Any]]],
    values: Mapping[str, str | None],
    words: Mapping[str, Any],
) -> Prepared:
    """Write the rows of each split, which have an `image`, as Parquet that `datasets` decodes as pictures.

    Args:
        output: the output.
        splits: split → rows, {"image": {"bytes": …, "path": None}, …}.
        values: {column: its type}; None: a list of strings.
        words: see `Prepared`.
    """
    from datasets import Features, Image, List, Value

    columns = {name: Value(kind) if kind else List(Value("string")) for name, kind in values.items()}
    schema = Features({"image": Image(), **columns}).arrow_schema
    files: dict[str, Path | bytes] = {}
    for split, rows in splits.items():
        path = output.work / f"{split}.parquet"
        with pq.ParquetWriter(path, schema, compression="none") as writer:
            while batch := list(islice(rows, 256)):
                writer.write_table(pa.Table.from_pylist(batch, schema))
        files[f"data/{split}-00000-of-00001.parquet"] = path
    return Prepared(files, words, configs={"default": {split: f"data/{split}-*" for split in splits}})


PREPARE: dict[str, Callable[[Output], Prepared]] = {
    "models/kvqae/dpr/*": prepare_dpr,
    "models/kvqae/rrt": prepare_rrt,
    "models/complexity/readers/*/seed-*": prepare_french_reader,
    "models/decorrelation/cells/*": prepare_retrieval_model,
    "models/complexity/frame_parser": prepare_frame_parser,
    "data/complexity/partitions": prepare_partitions,
    "data/decorrelation/painted/*/*": prepare_painted_queries,
    "data/decorrelation/sets": prepare_released_sets,
    "data/decorrelation/pairs/*/*.parquet": prepare_decorrelated_pairs,
    "data/kvqae/rebuilt": prepare_rebuilt_questions,
}


@contextmanager
def pack_output(project: Path, path: str, target: str, *, hub: bool) -> Iterator[dict[str, Path | bytes]]:
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
    with tempfile.TemporaryDirectory(prefix="trivium-push-") as work:
        output = read_output(project, path, target, Path(work), hub=hub)
        for name, problem in KINDS[pattern].get("requires", {}).items():
            if not (output.source / name).exists():
                raise BadInput(problem, file=output.source)
        prepared = PREPARE[pattern](output) if pattern in PREPARE else Prepared(output.files())
        yield {CARD: card_of(output, prepared).encode(), **prepared.files}
