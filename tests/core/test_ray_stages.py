"""Every stage that works by shards writes the same bytes on machines that share no disk, workers of which are killed."""

import hashlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml
from ray.cloudpickle import register_pickle_by_value

from sample.encoders.training_pictures import draw_faces, draw_things
from sample.kvqae.construction import write_sources
from sample.kvqae.entity_world import build_world
from sample.kvqae.write import write_triviaqa, write_world
from sample.scene_models.scene_networks import make_stand_ins
from stages.complexity import finetune, frame_parser
from stages.decorrelation import entities, inpaint, phrases, removals, train
from stages.kvqae import (
    dense_search,
    dpr_pretrain,
    encode_texts,
    image_features,
    local_features,
    reader_finetune,
    rerank_finetune,
    rrt,
)
from stages.kvqae.knowledge_base import SCHEMA
from stages.kvqae.reader_finetune import ReaderFinetuneParameters
from stages.kvqae.rrt import RrtParameters
from tests.complexity.frame_world import make_texts, write_encoder
from tests.complexity.tiny_readers import questions, write_camembert
from tests.core.ray_machines import ROOT, Machines, serve
from tests.decorrelation.retrieved_world import cell
from tests.decorrelation.tiny_corpus import write_coco
from tests.decorrelation.tiny_models import CAPTIONS, SETTINGS
from tests.decorrelation.tiny_models import write_base as write_base_model
from tests.decorrelation.tiny_retrieval import write_world as write_retrieval_world
from tests.kvqae.odd_pictures import entry_of, odd_pictures, write_base
from tests.kvqae.reader import test_answered_rows
from tests.kvqae.retrieval import test_dpr_training
from tests.kvqae.tiny_reader import NAMES
from tests.kvqae.tiny_reader import write_world as write_kb
from tests.kvqae.tiny_training import CROSS_ENCODER, READER
from tests.kvqae.tiny_training import inputs as training_inputs
from tests.sample.kvqae.test_construction import DIFFICULTY, SIZES
from tests.stages.complexity import test_answer, test_contrasts, test_finetune, test_frame_parser, test_score
from tests.stages.decorrelation import test_entities, test_inpaint, test_removals, test_train
from tests.stages.decorrelation.test_base_models import parameters as base_models_parameters
from tests.stages.decorrelation.test_phrases import PARAMETERS as PHRASES
from tests.stages.kvqae import (
    test_dense_search,
    test_encode_texts,
    test_image_features,
    test_local_features,
    test_rerank_text,
    test_rrt,
)
from trivium.bridges.decorrelated_encoders import EntitiesParameters
from trivium.commands.plan import ESTIMATES
from trivium.core.curves import Curves
from trivium.core.engine import Engine, LocalEngine
from trivium.core.image_shards import write_images
from trivium.core.ray_engine import RayEngine
from trivium.core.stage import Context
from trivium.core.tables import write_table
from trivium.core.tracking import Tracker
from trivium.decorrelation.captions.pairs import texts_of as write_captions
from trivium.decorrelation.models.interface import start
from trivium.decorrelation.retrieval.ranking import RetrieveParameters, ask
from trivium.formats.frame_corpora import write_texts
from trivium.formats.questions import Question
from trivium.formats.squad import write_squad
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.kvqae.knowledge_base.passages import PassagesParameters, write_passages
from trivium.kvqae.reader.answered_rows import read_selections
from trivium.kvqae.reader.inputs import Selection
from trivium.kvqae.reader.reading import load_reader, save_reader
from trivium.kvqae.rerankers.cross_encoder import CrossEncoderTrainingParameters, load_cross_encoder, save_cross_encoder
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters, write_list
from trivium.kvqae.retrieval.bm25 import Bm25SearchParameters, build_index, search_shard, write_runs
from trivium.kvqae.retrieval.dense_search import DenseSearchParameters
from trivium.kvqae.retrieval.dpr_training import DprParameters
from trivium.kvqae.retrieval.image_features import ImageFeaturesParameters
from trivium.kvqae.retrieval.text_encoding import EncodeTextsParameters
from trivium.nets import training

pytestmark = pytest.mark.timeout(900)
register_pickle_by_value(sys.modules[__name__])  # workers have no tests
WORLD = build_world(1, **SIZES, sentences=6, viquae={"train": 8, "validation": 4, "test": 4}, triviaqa=60)
WORDS = ("bridge", "river", "engineer", "port", "hill")
BM25 = {"threads": 1, "heap_gib": 1, "k1_step": 1.0, "b_step": 1.0}
PHRASE = [{"start": 0, "end": 5, "classes": ["dog"]}]
Run = Callable[[Path, Context, Path], object]


@pytest.fixture(scope="module")
def machines(tmp_path_factory) -> Iterator[Machines]:
    with serve(tmp_path_factory.mktemp("machines"), 2) as found:
        yield found


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As workers have: sums are split by threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Killing(RayEngine):
    """Kills a process that works, each time that the first result has come."""

    def map(self, *arguments, **options):
        for number, result in enumerate(super().map(*arguments, **options)):
            if number == 0:
                self.killed.append(kill_one(self.machines))
            yield result


def cut(inputs: Path, context: Context, out: Path) -> object:
    rows = [
        {"article": n, "title": f"T{n}", "text": [f"It is {n} (so). Mr. {n} said it."] * (n % 3 + 1), "image": "i"}
        for n in range(23)
    ]
    write_table(inputs / "articles.parquet", pa.Table.from_pylist(rows, schema=SCHEMA))
    own = PassagesParameters(words=10, shard_size=4)
    return write_passages(own, context.engine, articles=inputs / "articles.parquet", out=out / "passages.parquet")


def encode(encoder: str) -> Run:
    def run(inputs: Path, context: Context, out: Path) -> object:
        write_images(inputs / "images", odd_pictures().items(), shard_size=2)
        base = write_base(inputs / "base")
        own = test_image_features.SECTION | {"settings": entry_of(base, encoder)}
        return image_features.encode_folder(
            ImageFeaturesParameters.model_validate(own),
            context,
            encoder=encoder,
            images=inputs / "images",
            out=out / "f",
        )

    return run


def describe(inputs: Path, context: Context, out: Path) -> object:
    images = {name: data for name, data in test_local_features.IMAGES.items() if data}
    write_images(inputs / "images", images.items(), shard_size=1)
    (inputs / "extractor").mkdir()
    (inputs / "extractor" / "extractor.json").write_text('{"kind": "sift"}')
    write_list(inputs / "compared.txt", images)
    own = LocalFeaturesParameters(local="", most=5, max_side=256, max_pixels=10_000_000)
    return local_features.describe_side(
        own, context, name="kb", images=inputs / "images", compared=inputs / "compared.txt",
        extractor=inputs / "extractor", out=out / "features",
    )  # fmt: skip


def find_phrases(inputs: Path, context: Context, out: Path) -> object:
    raw = write_coco(inputs / "raw")
    return phrases.main(
        PHRASES, context, dataset="coco", raw=raw, out=out / "phrases.parquet", out_classes=out / "classes.csv"
    )


def find_removals(inputs: Path, context: Context, out: Path) -> object:
    raw = test_removals.write_world(inputs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(removals, "PICTURES", 2)
        return test_removals.run(raw, context, out)


def score(inputs: Path, context: Context, out: Path) -> object:
    test_score.write_answers(inputs)
    return test_score.run(inputs, context, out)


def ask_reader(inputs: Path, context: Context, out: Path) -> object:
    test_answer.write_world(inputs)
    return test_answer.ask(inputs, context, out)


def ask_facts(inputs: Path, context: Context, out: Path) -> object:
    test_contrasts.write_world(inputs)
    return test_contrasts.ask(inputs, context, out / "scores.parquet")


def paint(inputs: Path, context: Context, out: Path) -> object:
    test_inpaint.write_world(inputs)
    own = test_inpaint.parameters(shard_size=1)
    return inpaint.main(
        own,
        context,
        dataset="coco",
        filling="blur",
        raw=inputs / "raw",
        removals=inputs / "removals",
        base=inputs,
        out=out / "painted",
    )


def find_entities(inputs: Path, context: Context, out: Path) -> object:
    test_entities.write_world(inputs)
    own = test_entities.SECTION | {"encoders": {row: inputs / row for row in ("clip_one", "clip_two")}}
    return entities.main(
        EntitiesParameters.model_validate(own), context, articles=inputs / "articles.parquet",
        kb_images=inputs / "kb", kb_features=inputs / "features", question_images=inputs / "asked",
        questions=inputs / "test.jsonl", routing=inputs / "routing.parquet", out_table=out / "table.json",
        out_per_query=out / "per_query.parquet",
    )  # fmt: skip


def draw_world(inputs: Path, context: Context, out: Path) -> object:
    return write_world(WORLD, out, context.engine, size=64, difficulty=DIFFICULTY)


def draw_sources(inputs: Path, context: Context, out: Path) -> object:
    write_world(WORLD, inputs, LocalEngine(1), size=64, difficulty=DIFFICULTY)
    (inputs / "triviaqa").mkdir()
    write_triviaqa(WORLD, inputs / "triviaqa")
    return write_sources(
        out, inputs, WORLD.entities, context.engine, seed=1, questions=80, linked=0.6, files=5,
        annotated=40, size=64, difficulty=DIFFICULTY,
    )  # fmt: skip


def train_image_reranker(inputs: Path, context: Context, out: Path) -> object:
    own = RrtParameters.model_validate(test_rrt.SECTION | {"landmarks": 60, "local": ""})
    return rrt.main(own, context, source="sample", world_seed=5, articles=60, imageless=10, out=out / "rrt")


def draw_training(inputs: Path, context: Context, out: Path) -> object:
    own = {"identities": 60, "views": 1, "size": 64, "difficulty": DIFFICULTY}
    drawn = draw_faces(context.engine, **own), draw_things(context.engine, **own)
    return [(each.pixels.tobytes(), each.entities.tolist(), each.classes, each.captions) for each in drawn]


def make_models(inputs: Path, context: Context, out: Path) -> object:
    return make_stand_ins(base_models_parameters(), context, out / "base")


def search(inputs: Path, context: Context, out: Path) -> object:
    texts = [(number, f"a {WORDS[number % 5]} of {WORDS[number % 3]}") for number in range(30)]
    build_index(inputs / "index", texts, analyzer="standard", threads=1, heap_gib=1)
    queries = tuple(Question(word, word, ("x",), "x") for word in WORDS)
    search = partial(search_shard, index=inputs / "index", parameters=Bm25SearchParameters(depth=5, **BM25))
    shards = [(queries, k1, b) for k1 in (0.5, 1.0) for b in (0.0, 0.5)]
    runs = context.engine.map(search, shards, description="search", processes=1)
    return [(run.queries, run.documents.tolist(), run.scores.tolist()) for run in runs]


def search_for_triviaqa(inputs: Path, context: Context, out: Path) -> object:
    world = write_kb(inputs)
    build_index(inputs / "index", enumerate(NAMES), analyzer="standard", threads=1, heap_gib=1)
    own = Bm25SearchParameters(depth=3, **BM25)
    return write_runs(out / "runs", inputs / "index", own, context.engine, world.triviaqa, k1=0.9, b=0.4)


def search_vectors(index: str) -> Run:
    def run(inputs: Path, context: Context, out: Path) -> object:
        test_dense_search.write_embeddings(inputs / "embeddings")
        changed = {"index": index, "shard_rows": 70, "shard_questions": 2}
        own = DenseSearchParameters.model_validate(test_dense_search.SECTION | changed)
        return dense_search.main(own, context, embeddings=inputs / "embeddings", out=out / "runs")

    return run


def rerank(inputs: Path, context: Context, out: Path) -> object:
    world = test_rerank_text.write_model(write_kb(inputs))
    return test_rerank_text.rerank(world, out / "text", batch=1, engine=context.engine)


def read(inputs: Path, context: Context, out: Path) -> object:
    world = write_kb(inputs)
    torch.manual_seed(0)
    save_reader(inputs / "reader", *load_reader(world.base, 32, new_heads=True), base=world.base, data="", metrics={})
    texts = read_passage_texts(world.kb, np.arange(24))
    asked = [Selection(Question(w, f"where {w} ?", ("x",), "x"), np.arange(24), np.zeros(24)) for w in WORDS]
    own = test_answered_rows.PARAMETERS.model_copy(update={"batch": 1})
    found = read_selections(inputs / "reader", asked, texts, own, context.engine)
    return [(pair, each.answer, each.score, each.start_mass, each.end_mass) for pair, each in found.items()]


def encode_passages(inputs: Path, context: Context, out: Path) -> object:
    world = test_encode_texts.write_world(inputs)
    own = {"settings": {"model": str(world / "dpr")}, "max_tokens": 16, "batch_size": 2, "shard_size": 1}
    return encode_texts.main(
        EncodeTextsParameters.model_validate(own), context, encoder="dpr_few_shot", kb=world / "wiki",
        questions=world / "asked", out=out / "vectors",
    )  # fmt: skip


def finetune_reader(inputs: Path, context: Context, out: Path) -> object:
    write_camembert(inputs / "base" / "camembert")
    for split, count in (("train", 40), ("validation", 12)):
        write_squad(inputs / f"{split}.json", questions(count))
    return finetune.main(
        test_finetune.parameters(), context, name="tiny", seed=0, base=inputs / "base", train=inputs / "train.json",
        validation=inputs / "validation.json", out=out / "reader",
    )  # fmt: skip


def train_frame_parser(inputs: Path, context: Context, out: Path) -> object:
    torch.manual_seed(0)
    base = write_encoder(inputs / "encoder")
    for seed, name in enumerate(("train", "validation", "test")):
        write_texts(inputs / "texts" / f"{name}.jsonl", make_texts(10, seed=seed, prefix=name))
    return frame_parser.main(
        test_frame_parser.PARAMETERS.model_copy(update={"steps": 3}), context, base=base, texts=inputs / "texts",
        out=out / "parser",
    )  # fmt: skip


def train_encoders(inputs: Path, context: Context, out: Path) -> object:
    files = test_dpr_training.write_world(inputs)
    own = DprParameters(**test_dpr_training.PARAMETERS | {"max_steps": 3})
    return dpr_pretrain.main(
        own, context, base=inputs / "bert", published=inputs / "published", **files,
        **test_dpr_training.outputs(out), out=out / "dpr",
    )  # fmt: skip


def train_cross_encoder(inputs: Path, context: Context, out: Path) -> object:
    world, base = write_kb(inputs), inputs / "cross_encoder"
    torch.manual_seed(0)
    save_cross_encoder(
        base, *load_cross_encoder(world.base, 32, new_perceptron=True), base=world.base, data="", metrics={}
    )
    own = CrossEncoderTrainingParameters.model_validate(CROSS_ENCODER | {"steps": 3})
    return rerank_finetune.main(own, context, **training_inputs(world) | {"base": base}, out=out / "cross_encoder")


def train_reader(inputs: Path, context: Context, out: Path) -> object:
    world = write_kb(inputs)
    torch.manual_seed(0)
    save_reader(inputs / "reader", *load_reader(world.base, 32, new_heads=True), base=world.base, data="", metrics={})
    given = training_inputs(world) | {
        "base": inputs / "reader",
        "questions": world.viquae,
        "runs": world.runs / "text",
    }
    own = ReaderFinetuneParameters.model_validate(
        READER | {"steps": 3, "losses": {"few_shot": "mean"}, "max_start": "none"}
    )
    return reader_finetune.main(own, context, **given, reader="few_shot", seed=0, out=out / "reader")


def train_retrieval_model(inputs: Path, context: Context, out: Path) -> object:
    write_retrieval_world(inputs)
    base = write_base_model("clip", inputs / "clip" / "tiny").parent
    own = test_train.parameters(models={"clip": SETTINGS["clip"].model_dump()}).model_copy(
        update={"cell": cell("coco", "clip", "ours")}
    )
    return train.main(
        own, context, cell="coco_clip_ours_0", dataset="coco", filling="cv2", captions="grammatical",
        raw=inputs / "raw", pairs=inputs / "pairs.parquet", painted=inputs / "painted", base=base, out=out / "model",
    )  # fmt: skip


def retrieve_captions(inputs: Path, context: Context, out: Path) -> object:
    world, base = write_retrieval_world(inputs / "world"), write_base_model("blip", inputs / "base")
    start("blip", base, SETTINGS["blip"], CAPTIONS).save(inputs / "model")
    own = RetrieveParameters(depth=4, picture_batch=5, caption_batch=8, threads=1, candidates={"coco": 6})
    return ask(
        own, candidates=6, model=inputs / "model", raw=world / "raw", removals=world / "removals",
        painted=world / "painted", engine=context.engine, work=context.work / "cell", out=out / "retrieved",
    )  # fmt: skip


def rewrite(inputs: Path, context: Context, out: Path) -> object:
    sources = [
        (test_inpaint.removal(n % 6), {"text": f"A dog and cat {n}.", "phrases": PHRASE, "caption": n})
        for n in range(40)
    ]
    shards = [sources[start : start + 5] for start in range(0, 40, 5)]
    return list(
        context.engine.map(partial(write_captions, captions="grammatical", seed=0), shards, description="texts")
    )


STAGES: dict[str, Run] = {
    "bm25_search": search,
    "bm25_search-triviaqa": search_for_triviaqa,
    "dense_search-exact": search_vectors("exact"),
    "dense_search-ivf_sq8": search_vectors("ivf_sq8"),
    "rerank": rerank,
    "read": read,
    "encode_texts": encode_passages,
    "pairs": rewrite,
    "knowledge_base": cut,
    "image_features-arcface": encode("arcface"),
    "image_features-clip": encode("clip"),
    "local_features": describe,
    "phrases": find_phrases,
    "removals": find_removals,
    "inpaint": paint,
    "retrieve": retrieve_captions,
    "entities": find_entities,
    "world": draw_world,
    "sources": draw_sources,
    "rrt": train_image_reranker,
    "score": score,
    "kvqae-base_models": draw_training,
    "decorrelation-base_models": make_models,
}
TRAININGS: dict[str, Run] = {  # each a task, whose first result is its last
    "dpr_pretrain": train_encoders,
    "rerank_finetune": train_cross_encoder,
    "reader_finetune": train_reader,
    "complexity-finetune": finetune_reader,
    "complexity-answer": ask_reader,
    "contrasts": ask_facts,
    "frame_parser": train_frame_parser,
    "decorrelation-train": train_retrieval_model,
}

OF_THE_SAME_TASK = {  # marked as well, but only other inputs of a training that is here
    "kvqae.dpr_finetune": "dpr_pretrain",
    "kvqae.rerank_pretrain": "rerank_finetune",
    "kvqae.reader_pretrain": "reader_finetune",
}


def test_each_stage_that_the_graph_marks_is_here():
    graph = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    commands = [
        str(graph[name].get("do", graph[name])["cmd"]) for name, row in ESTIMATES["stages"].items() if "spread" in row
    ]
    marked = {match[1] for command in commands if (match := re.search(r"-m stages ([\w.]+)", command))}
    here = dict.fromkeys(STAGES | TRAININGS, 0)
    for module in marked - OF_THE_SAME_TASK.keys():
        paper, name = module.split(".")
        own = [key for key in here if key in (name, f"{paper}-{name}") or key.startswith(f"{name}-")]
        assert own, module
        for key in own:
            here[key] += 1
    assert set(here.values()) == {1}  # each is of one stage
    assert OF_THE_SAME_TASK.keys() <= marked
    assert set(OF_THE_SAME_TASK.values()) <= TRAININGS.keys()


def written(run: Run, folder: Path, engine: Callable[[Path], Engine]) -> tuple[object, object, dict[str, str]]:
    """What a stage returns, its curves, and the digests of what it writes, in which a card may name its folder."""
    for name in ("inputs", "work", "out"):
        (folder / name).mkdir(parents=True)
    curves = Curves(folder / "curves")
    context = Context(tracker=Tracker(curves=curves), work=folder / "work", engine=engine(folder / "work"))
    returned = run(folder / "inputs", context, folder / "out")
    files = {file: file.read_bytes() for file in sorted((folder / "out").rglob("*")) if file.is_file()}
    read = {file: data.replace(bytes(folder), b"") for file, data in files.items()}
    digests = {str(f.relative_to(folder / "out")): hashlib.sha256(data).hexdigest() for f, data in read.items()}
    return returned, curves.points(), digests


def kill_one(machines: Machines) -> int | None:
    """Kill a process of a machine that works for the engine now."""
    for machine in machines.all:
        for file in (machine.folder / "opened").iterdir():
            scratch, process = machine.folder / "scratch", Path("/proc") / file.stem
            try:
                place = (process / "cwd").readlink()
            except OSError:
                continue
            if place.is_relative_to(scratch) and place.exists():
                os.kill(int(file.stem), signal.SIGKILL)
                return int(file.stem)
    return None


KILLED: list[int | None] = []
THROUGH_S3 = (
    "image_features-arcface",
    "encode_texts",
    "dense_search-ivf_sq8",
)  # their shards name files, and write some


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "storage"),
    [*((name, "") for name in STAGES | TRAININGS), *((name, f"s3://bucket/{name}") for name in THROUGH_S3)],
)
def test_the_same_bytes_as_here(name, storage, machines, tmp_path):
    def engine(work: Path) -> Engine:
        found = Killing(machines.cluster.address, storage or machines.storage, workers=1, gpu_workers=1, work=work)
        vars(found).update(machines=machines, killed=KILLED)
        return found

    run = (STAGES | TRAININGS)[name]
    here = written(run, tmp_path / "here", lambda _: LocalEngine(1))
    there = written(run, tmp_path / "there", engine)
    assert there == here
    assert here[2] or here[0]
    assert machines.opened_of(tmp_path) == []


@pytest.mark.slow
def test_most_stages_have_lost_a_worker_meanwhile():
    assert len([process for process in KILLED if process]) > len(STAGES) // 2


class KillingMidway(RayEngine):
    """Has a training's process killed once, after its first checkpoint."""

    def map(self, function, *arguments, **options):
        yield from super().map(partial(die_midway, function, str(self.died)), *arguments, **options)


def die_midway(function: Callable[[Path], object], died: str, checkpoints: Path) -> object:
    """Do a training; the first process that writes a checkpoint is killed, and leaves the step's number in `died`."""

    keep = training.save_checkpoint

    def save(folder: Path, progress: training.Progress, *state) -> None:
        keep(folder, progress, *state)
        if not Path(died).exists():
            Path(died).write_text(str(progress.steps))
            os.kill(os.getpid(), signal.SIGKILL)

    with mock.patch.object(training, "save_checkpoint", save):
        return function(checkpoints)


@pytest.mark.slow
def test_a_training_that_is_lost_midway_gives_the_same_bytes(machines, tmp_path):
    def engine(work: Path) -> Engine:
        found = KillingMidway(machines.cluster.address, machines.storage, workers=1, gpu_workers=1, work=work)
        vars(found)["died"] = machines.folder / "died"
        return found

    here = written(train_cross_encoder, tmp_path / "here", lambda _: LocalEngine(1))
    assert written(train_cross_encoder, tmp_path / "there", engine) == here
    assert (machines.folder / "died").read_text() == "2"  # of three steps
