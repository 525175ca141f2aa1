"""Where an output of the graph is from: its stage, its parameters, and the sources of all that it was made from.

All of it stands in `dvc.lock`, and is of the files that lie there: `Artifacts` compares their hashes first. What
`params.yaml` says now may be something else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from trivium.core.errors import BadInput
from trivium.kvqae.asking.artifacts import LOCK, Artifacts

SAMPLE = "sample"
_SOURCE = re.compile(r"--source (\S+)")
_WORLD = re.compile(r"world\.(\w+)")
_INVENTED = "decorrelation-world@control"  # whatever the parameters say
# What a stage with --source, or a parameter `world.NAME`, stands for; others bring nothing of their own.
DATA = {
    "kvqae-world": "ViQuAE and its knowledge base",
    "kvqae-triviaqa": "TriviaQA",
    "kvqae-sources": "TriviaQA and Wikimedia Commons, as the construction reads them",
    "kvqae-annotations": "the annotators' judgements",
    "kvqae-rrt": "photographs of landmarks",
    "coco": "COCO",
    "flickr30k": "Flickr30k",
    "control": "the control scenes",
    "fquad": "FQuAD",
    "calor": "Calor",
}
WEIGHTS = {
    "kvqae-base_models": "KVQAE's encoders",
    "decorrelation_models": "decorrelation's models",
    "complexity_models": "complexity's models",
}


@dataclass(frozen=True)
class Lineage:
    """What `dvc.lock` says of an output and its ancestors.

    Attributes:
        stage: that made it.
        command: of the stage.
        parameters: of the stage, by dotted key.
        outputs: of the stage.
        inputs: of the stage and of all before it.
        data, weights: {what: sample, hub or local}, see `DATA` and `WEIGHTS`.
    """

    stage: str
    command: str
    parameters: Mapping[str, Any]
    outputs: tuple[str, ...]
    inputs: frozenset[str]
    data: Mapping[str, str]
    weights: Mapping[str, str]

    @property
    def invented(self) -> list[str]:
        """Of `data`, what is the sample's."""
        return [what for what, source in self.data.items() if source == SAMPLE]

    @property
    def stand_ins(self) -> list[str]:
        """Of `weights`, what is the sample's."""
        return [what for what, source in self.weights.items() if source == SAMPLE]


def read_lock(project: Path) -> dict[str, Any]:
    """The stages of `dvc.lock`.

    Raises:
        BadInput: it is not there, or not whole.
    """
    file = project / LOCK
    if not file.is_file():
        raise BadInput("not there: run `make repro` first", file=file)
    try:
        # libyaml, where it is there: PyYAML's own parser takes seconds.
        stages = yaml.load(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["stages"]
        return {name: stage for name, stage in stages.items() if stage["cmd"]}
    except (yaml.YAMLError, TypeError, KeyError, AttributeError):
        raise BadInput("it cannot be read; if DVC is writing it, try again in a moment", file=file) from None


def outputs_of(stages: Mapping[str, Any]) -> dict[str, str]:
    """{path: the stage that made it}."""
    return {out["path"]: name for name, stage in stages.items() for out in stage.get("outs", ())}


def read_lineage(project: Path, path: str) -> Lineage:
    """The lineage of an output, of which nothing was made anew since.

    Args:
        project: the repository.
        path: of the output, as `dvc.yaml` has it.

    Raises:
        BadInput: no stage has made it, or it is not what it was when its stage, or one before it, had run.
    """
    stages = read_lock(project)
    makers = outputs_of(stages)
    if path not in makers:
        raise BadInput(f"{LOCK} does not know it as a stage's output: run `make repro` first", file=project / path)
    Artifacts(project).use(path)
    own = stages[makers[path]]
    seen: set[str] = set()
    inputs: set[str] = set()
    found: dict[str, str] = {}
    waiting = [makers[path]]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        found |= _sources(name, stages[name])
        for dep in stages[name].get("deps", ()):
            inputs.add(dep["path"])
            waiting += _makers(PurePosixPath(dep["path"]), makers)
    return Lineage(
        makers[path],
        own["cmd"],
        own.get("params", {}).get("params.yaml") or {},
        tuple(out["path"] for out in own["outs"]),
        frozenset(inputs),
        {what: found[key] for key, what in DATA.items() if key in found},
        {what: found[key] for key, what in WEIGHTS.items() if key in found},
    )


def _sources(name: str, stage: Mapping[str, Any]) -> dict[str, str]:
    found = {"control": SAMPLE} if name == _INVENTED else {}
    if source := _SOURCE.search(stage["cmd"]):
        found[name] = source[1]
    for key, value in (stage.get("params", {}).get("params.yaml") or {}).items():
        if world := _WORLD.fullmatch(key):
            found[world[1]] = value
    return found


def _makers(path: PurePosixPath, makers: Mapping[str, str]) -> list[str]:
    """The stages of the output that is at a path or around it, and of those below it."""
    around = [makers[str(place)] for place in (path, *path.parents) if str(place) in makers]
    return around or [stage for made, stage in makers.items() if path in PurePosixPath(made).parents]
