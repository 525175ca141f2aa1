"""An article of the page on a small world: every part by its stage, which gets what dvc.yaml says and no more."""

import inspect
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from tests.stage_paths import defaults, module_of, section_and_model
from trivium.core.parameters import read_parameters, validate, values_of
from trivium.page.contents import ARTICLES, read_articles

ROOT = Path(__file__).parents[2]
STAGES: dict[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]


def words_of(stage: dict[str, Any]) -> dict[str, list[str]]:
    """The arguments of a stage's command and the paths of its module, by name."""
    command = str(stage["cmd"])
    given: dict[str, list[str]] = {}
    for word in command.split()[4:]:
        if word.startswith("--"):
            values = given.setdefault(word.removeprefix("--").replace("-", "_"), [])
        else:
            values.append(word)
    return defaults(module_of(command)) | given


def declared(tree: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """A tree of parameters with what stands at these dotted keys alone."""
    found: dict[str, Any] = {}
    for key in keys:
        source, target, (*above, last) = tree, found, key.split(".")
        for part in above:
            source, target = source.get(part) or {}, target.setdefault(part, {})
        if last in source:
            target[last] = source[last]
    return found


def render_part(
    pipeline: str, part: str, arguments: dict[str, Any], out: Path, settings: dict[str, Any] | None = None
) -> dict[str, float]:
    """Run one part; its metrics.

    Args:
        pipeline, part: as in `ARTICLES`.
        arguments: of any part of the article by name; `folder` holds the metrics of stages, `used` the parameters.
        out: folder of the parts.
        settings: in place of single values in the parts of its own section.
    """
    name = f"{pipeline}-page_{part}"
    module = import_module(f"stages.{pipeline}.page_{part}")
    keys = [key for key in STAGES[name]["params"] if isinstance(key, str)]
    tree = read_parameters(arguments["used"])
    if "params.yaml" not in STAGES[name]["deps"]:
        tree = declared(tree, keys)
    used = out / f"{name}.yaml"
    used.parent.mkdir(parents=True, exist_ok=True)
    used.write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
    section, model = section_and_model(module)
    values = values_of(tree, section, model, used, {})
    values = {
        name: value | (settings or {}).get(name, {}) if isinstance(value, dict) else value
        for name, value in values.items()
    }
    wanted = inspect.signature(module.main).parameters
    outs = {name: out / name for name in wanted if name.startswith("out_")}  # by default they are those of a real run
    given = {"thorough": out / "never_made.json"} | outs | arguments | {"used": used}
    words = words_of(STAGES[name])
    if "found" in words:
        given["found"] = [arguments["folder"] / Path(word).name for word in words["found"]]
    chosen = {argument: given[argument] for argument in wanted if argument in given}
    parameters = validate(model, values, section, used, {})
    return module.main(parameters, **chosen, out=out / pipeline / f"{part}.json") or {}


def render(
    pipeline: str, arguments: dict[str, Any], out: Path, **settings: dict[str, Any]
) -> tuple[dict[str, float], dict[str, Any]]:
    """All parts; their metrics together, and the article as the page has it.

    Args:
        pipeline, arguments, out: as of `render_part`.
        settings: as of `render_part`.
    """
    metrics: dict[str, float] = {}
    for part in ARTICLES[pipeline].parts:
        metrics |= render_part(pipeline, part, arguments, out, settings)
    (article,) = (each for each in read_articles(out, {}) if each["pipeline"] == pipeline)
    assert article["missing"] == []
    return metrics, article


def undeclared(name: str) -> list[str]:
    """The paths of a stage's command that are neither dependencies of it, nor below one, nor written by it."""
    stage = STAGES[name]
    mine = [*stage["deps"], *stage["outs"], *(path for each in stage.get("metrics", []) for path in each)]
    paths = [word for values in words_of(stage).values() for word in values if "/" in word]
    named = [each.replace("${", "{") for each in mine]  # a key of params.yaml, as dvc.yaml writes it
    return [path for path in paths if not any(f"{path}/".startswith(f"{each}/") for each in named)]
