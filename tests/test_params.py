"""params.yaml and every scale merged over it: each section fits its stage, each field is described, none is unread."""

import copy
import importlib
import re
from collections.abc import Iterator
from functools import cache, reduce
from pathlib import Path
from typing import Annotated, Any, get_args

import pytest
import yaml
from pydantic import TypeAdapter

from tests.stage_paths import section_and_model
from trivium.commands.scale import merge
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, RunParameters, validate, values_of
from trivium.decorrelation.matrix import parse_cells

ROOT = Path(__file__).parents[1]
PARAMS = ROOT / "params.yaml"
SCALES = [None, *sorted((ROOT / "scales").glob("*.yaml"))]
GRAPH = (ROOT / "dvc.yaml").read_text(encoding="utf-8")
ENTRY = re.compile(r'^@stage\("([\w.]+)"[,)]', re.MULTILINE)
STAGES = {  # section: module
    section: ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in sorted((ROOT / "stages").rglob("*.py"))
    for section in ENTRY.findall(file.read_text(encoding="utf-8"))
}
HARNESS = {"run"}  # trivium/core/stage.py reads it


def model_of(section: str) -> type[Parameters]:
    return section_and_model(importlib.import_module(STAGES[section]))[1]


def overrides(scale: Path) -> dict[str, Any]:
    return yaml.safe_load(scale.read_text(encoding="utf-8"))


HUB = [scale for scale in SCALES[1:] if scale and overrides(scale).get("world", {}).get("kvqae") == "hub"]


@cache
def merged(scale: Path | None) -> dict[str, Any]:
    tree = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    if scale is not None:
        list(merge(tree, overrides(scale), scale))
    return tree


def parameters(scale: Path | None) -> dict[str, Any]:
    return copy.deepcopy(merged(scale))


def models_in(annotation: Any) -> Iterator[type[Parameters]]:
    """The Parameters models in a type such as `dict[str, Row]`, and those within them."""
    if isinstance(annotation, type) and issubclass(annotation, Parameters):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models_in(field.annotation)
    for inside in get_args(annotation):
        yield from models_in(inside)


ARGUMENTS = {  # of a cell, where a value's place depends on them
    "complexity.finetune": {"name": "camembert"},
    "complexity.contrasts": {"name": "camembert"},
    "decorrelation.train": {"cell": "coco_clip_ours_0"},
    "decorrelation.world": {"dataset": "coco", "source": "world.coco", "local": "world.local.coco"},
    "kvqae.image_features": {"encoder": "clip"},
    "kvqae.encode_texts": {"encoder": "dpr_few_shot"},
    "kvqae.rerank": {"reranker": "text"},
    "kvqae.name_search": {"encoder": "clip"},
    "kvqae.read_prompted": {"reader": "tiny"},
    "kvqae.identify": {"identifier": "tiny"},
}
# What a member of a family checks by itself, whose own tests go through all members.
UNCHECKED = {"models", "image_encoders", "text_encoders", "rerankers", "settings", "readers", "prompted"}


def unchecked(section: str) -> set[str]:
    """Fields that the section leaves to others: a part of the page shows what a stage before it was told, and checked."""
    return UNCHECKED | (set(model_of(section).places) if ".page" in section or section == "report" else set())


def told(section: str, scale: Path | None) -> dict[str, Any]:
    """What a stage is told at a scale, with what stands elsewhere."""
    tree = parameters(scale)
    kvqae = tree["kvqae"]
    # Of families that list nothing by default, a member each.
    model = {
        "label": "Tiny",
        "endpoint": "http://localhost",
        "model": "tiny",
        "key_variable": None,
        "run": "runs",
        "passages": 1,
    }
    model |= dict.fromkeys(("requests_per_minute", "parallel", "timeout_s", "backoff_s"), 1)
    families = {
        "prompted_readers": {"tiny": model | {"sees": "both"}},
        "identifiers": {"tiny": model | {"encoder": "e"}},
    }
    clip = {"clip": {"model": kvqae["image_encoders"]["clip"]["model"]}}
    tree = {
        **tree,
        "kvqae": {**kvqae, "name_encoders": clip, **families},
    }
    return values_of(tree, section, model_of(section), scale or PARAMS, ARGUMENTS.get(section, {}))


def check(section: str, values: dict[str, Any], file: Path) -> None:
    """As the stage does, what each member of a family is told included."""
    found: Any = validate(model_of(section), values, section, file)
    members = {"decorrelation.train": "models", "decorrelation.inpaint": "fillings"}
    for name in values.get(members[section], ()) if section in members else ():
        found.settings_of(name)


def test_who_works_by_shards_makes_no_stage_stale():
    """Nor does what is tracked, or how many work: of `run` only `portable` counts, which decides the bits."""
    params = [
        next(iter(each)) if isinstance(each, dict) else each
        for definition in yaml.safe_load(GRAPH)["stages"].values()
        for each in definition.get("do", definition).get("params", ())
    ]
    assert len(params) > 100
    assert {each for each in params if each.split(".")[0] == "run"} == {"run.portable"}


def test_every_stage_of_the_graph_is_found():
    run = {f"stages.{name}" for name in re.findall(r"python -m stages ([\w.]+)", GRAPH)}
    assert run == {*STAGES.values()}


@pytest.mark.parametrize("section", STAGES)
def test_sections_fit_their_stage_at_every_scale(section):
    for scale in SCALES:
        check(section, told(section, scale), scale or PARAMS)


@pytest.mark.parametrize("section", STAGES)
def test_every_field_is_described_and_refuses_unknown_keys(section):
    for model in models_in(model_of(section)):
        assert model.model_config["extra"] == "forbid"
        assert [name for name, field in model.model_fields.items() if not (field.description or "").strip()] == []


def numbers(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where the numbers of a section are; a list counts by its first element."""
    if isinstance(node, dict):
        for key, inner in node.items():
            yield from numbers(inner, (*path, key))
    elif isinstance(node, list):
        yield from numbers(node[0], (*path, 0))
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield path


@pytest.mark.parametrize("section", STAGES)
def test_a_number_out_of_range_is_refused_by_name(section):
    values = told(section, None)
    for path in numbers({name: value for name, value in values.items() if name not in unchecked(section)}):
        for wrong in (-(10**6), float("inf")):
            broken = copy.deepcopy(values)
            *parents, last = path
            reduce(lambda node, key: node[key], parents, broken)[last] = wrong
            with pytest.raises(BadInput) as caught:
                check(section, broken, PARAMS)
            assert wrong > 0 or f"{section}.{'.'.join(map(str, path))}" in str(caught.value)


@pytest.mark.parametrize("section", STAGES)
def test_a_default_passes_its_own_check(section):
    for model in models_in(model_of(section)):
        for field in model.model_fields.values():
            if not field.is_required():
                TypeAdapter(Annotated[field.annotation, field]).validate_python(field.default)


@pytest.mark.parametrize("name", parameters(None)["complexity"]["finetune"]["models"])
def test_every_reader_fits_its_kind_at_every_scale_and_is_refused_by_its_place(name):
    section, arguments = "complexity.finetune", {"name": name}
    model = model_of(section)
    for scale in SCALES:
        values = values_of(parameters(scale), section, model, PARAMS, arguments)
        validate(model, values, section, scale or PARAMS, arguments)
    values = values_of(parameters(None), section, model, PARAMS, arguments)
    for path in numbers(values["settings"]):
        broken = values | {"settings": values["settings"] | {path[0]: -(10**6)}}
        with pytest.raises(BadInput) as caught:
            validate(model, broken, section, PARAMS, arguments)
        assert f"complexity.finetune.models.{name}.{path[0]}" in str(caught.value)


def test_no_section_is_unread():
    tree = parameters(None)
    assert set(tree) - HARNESS - {"world"} == {section.split(".")[0] for section in STAGES}
    for pipeline in {section.split(".")[0] for section in STAGES if "." in section}:
        sections = {f"{pipeline}.{name}" for name in tree[pipeline]}
        matrices = {section for section in sections if f"${{{section}}}" in GRAPH}  # what the graph is wired with
        keys = [key for name in STAGES for key in model_of(name).places.values()]
        shared = {section for section in sections for key in keys if f"{key}.".startswith(f"{section}.")}
        shared |= {section for section in sections if f"${{{section}." in GRAPH}  # paths are made of it
        own = {section for section in STAGES if section.startswith(f"{pipeline}.")}
        assert sections - matrices - (shared - own) == own


def test_the_sources_of_worlds_are_read_by_the_graph():
    world = parameters(None)["world"]
    names = [name for name in world if name != "local"] + [f"local.{name}" for name in world["local"]]
    assert sorted(names) == sorted(set(re.findall(r"(?<![\w./])world\.((?:local\.)?\w+)", GRAPH)))


def test_the_section_of_the_harness():
    for scale in SCALES:
        merged = parameters(scale)
        run = merged["run"]
        assert set(run) == set(RunParameters.model_fields)
        validate(RunParameters, run, "run", PARAMS)
        assert (run["portable"] is False) == ("hub" in merged["world"].values())  # real sizes want the whole machine


@pytest.mark.parametrize("scale", SCALES)
def test_the_readers_that_are_scored_are_those_that_are_trained(scale):
    complexity = parameters(scale)["complexity"]
    score = validate(model_of("complexity.score"), told("complexity.score", scale), "complexity.score", PARAMS)
    assert list(score.run) == complexity["finetune"]["run"]
    assert list(score.seeds) == complexity["finetune"]["seeds"]
    assert score.readers == {name: model["kind"] for name, model in complexity["finetune"]["models"].items()}
    assert list(score.prompted) == list(complexity["prompt"]["models"])
    assert {complexity["finetune"]["models"][name]["base"] for name in complexity["finetune"]["run"]} <= set(
        complexity["base_models"]["models"]
    )


@pytest.mark.parametrize("scale", [*SCALES, ROOT / "tests" / "end_to_end" / "tiny.yaml"])
def test_the_cells_of_decorrelation_have_what_they_need(scale):
    """A picture that nobody painted, or D' that nobody made, would be a missing dependency in the middle of a run."""
    section = parameters(scale)["decorrelation"]
    cells = parse_cells(section["cells"], scale or PARAMS)
    painted = {(each["dataset"], each["filling"]) for each in section["paintings"].values()}
    pairs = {(each["dataset"], each["filling"], each["captions"]) for each in section["pairings"].values()}
    assert {(data, filling) for data, filling, _ in pairs} <= painted
    assert {data for data, _ in painted} <= set(section["datasets"])
    painted |= {(data, "none") for data in section["datasets"]}  # stage removals makes an empty D'
    pairs |= {(data, "none", "none") for data in section["datasets"]}
    for cell in cells.values():
        assert {(cell.dataset, cell.filling), (cell.dataset, cell.queries)} <= painted
        assert (cell.dataset, cell.filling, cell.captions) in pairs
        assert cell.model in section["train"]["models"]
        assert section["retrieve"]["candidates"][cell.dataset] >= section["retrieve"]["depth"]
    for name, each in section["paintings"].items():
        assert name == f"{each['dataset']}_{each['filling']}"
    for name, each in section["pairings"].items():  # the page reads the metrics by this name
        assert name == f"{each['dataset']}_{each['filling']}_{each['captions']}"
    trained = [Path(path).name for path in section["entities"]["encoders"].values() if "cells" in path]
    assert set(trained) <= set(cells)


def test_scales_for_public_data_are_found():
    assert [scale.stem for scale in HUB] == ["paper", "pilot", "workstation"]


@pytest.mark.parametrize("scale", HUB, ids=lambda scale: scale.stem)
def test_public_data_is_fused_with_weights_found_on_its_own_validation(scale):
    assert overrides(scale)["kvqae"]["fuse"] == {"weights": "tuned"}


@pytest.mark.parametrize("scale", HUB, ids=lambda scale: scale.stem)
def test_public_data_is_read_and_lemmatised_as_in_the_paper(scale):
    kvqae = parameters(scale)["kvqae"]
    assert [kvqae["read"]["rows"][row]["passages"] for row in ("triviaqa", "triviaqa_weighted")] == [24, 24]
    if scale.stem == "pilot":  # it is not asked to build the data set again, and needs nothing installed by hand
        assert kvqae["evaluate"]["spacy_model"] is None
    else:
        assert kvqae["evaluate"]["spacy_model"] == kvqae["mention_model"]["model"] == "en_core_web_lg"
