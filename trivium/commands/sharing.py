"""The card of an output that leaves: what it is, where it is from, its licence and its scores.

The words for each kind of output stand in `sharing.yaml`, the page in `sharing.md`. All about its origin stands in
`dvc.lock`, and is of the files that lie there: `Artifacts` compares their hashes first.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from json import dumps
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from huggingface_hub import DatasetCard, DatasetCardData, EvalResult, ModelCard, ModelCardData

from trivium.commands.lineage import LOCK, behind, outputs_of, read_lock
from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.kvqae.asking.artifacts import Artifacts
from trivium.nets.cards import CARD, licence_of
from trivium.sources.brought import PROVENANCE
from trivium.sources.minilm import MINILM

TEXTS, KINDS = yaml.safe_load_all(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
TEMPLATE = Path(__file__).with_name("sharing.md")
SAMPLE = "sample"
UNKNOWN = ("other", "not stated")  # of a user's own files; in pins.yaml
MEASURES = r"validation_(?:mrr|em|f1|rouge_l|r@1|text_r@1|auc|accuracy)"


@dataclass(frozen=True)
class Start:
    """Weights, or data, that something was made from; the licence is None where their owner states none."""

    name: str
    licence: str | None

    @property
    def hub_name(self) -> str | None:
        """`OWNER/NAME`, where they are of the hub."""
        match = re.match(r"[\w.-]+/[\w.-]+", self.name)
        return match[0] if match and (match[0] == self.name or self.name == MINILM["from"]) else None


@dataclass(frozen=True)
class Output:
    """An output that leaves, and what `dvc.lock` says of it and of all before it.

    Attributes:
        project: the repository of the graph.
        path: of the output there.
        target: the folder, or OWNER/NAME of a repository, where it goes.
        hub: whether it is a repository.
        work: a folder for files that have to be made; they are gone when it has left.
        stage: that made it.
        parameters: of the stage, by dotted key.
        metrics: paths of the stage's metrics.
        inputs: of the stage and of all before it.
        data, weights: {what: sample, hub or local}, in the words of `sharing.yaml`.
    """

    project: Path
    path: str
    target: str
    hub: bool
    work: Path
    stage: str
    parameters: Mapping[str, Any]
    metrics: tuple[str, ...]
    inputs: frozenset[str]
    data: Mapping[str, str]
    weights: Mapping[str, str]

    @property
    def source(self) -> Path:
        """The output."""
        return self.project / self.path

    @property
    def invented(self) -> list[str]:
        """Of `data`, what is the sample's."""
        return [what for what, source in self.data.items() if source == SAMPLE]

    @property
    def words(self) -> dict[str, str]:
        """The target as code names it: `name` for libraries, `where` for this project's own."""
        name = dumps(self.target)
        where = f'__import__("huggingface_hub").snapshot_download({name})' if self.hub else name
        return {"name": name, "where": where, "shot": ", ".join(self.path.split("/")[3:]).replace("_", "-")}

    def parameter(self, key: str) -> Any:
        """The value at a dotted key of the stage's parameters, of which `dvc.lock` may have the section."""
        above, value = next(item for item in self.parameters.items() if f"{key}.".startswith(f"{item[0]}."))
        for part in filter(None, key.removeprefix(above).split(".")):
            value = value[part]
        return value

    def files(self, *left_out: str) -> dict[str, Path | bytes]:
        """{path in the output: file}, but for these and its card."""
        paths = sorted(path for path in self.source.rglob("*") if path.is_file())
        named = {str(path.relative_to(self.source)): path for path in paths}
        return {name: path for name, path in named.items() if name not in {CARD, *left_out}}


@dataclass(frozen=True)
class Prepared:
    """The files of an output, {path there: a file, or bytes}, and what its card says besides `sharing.yaml`.

    Attributes:
        words: for the braces in `sharing.yaml`.
        start: the weights that a model started from, where `sharing.yaml` does not say.
        variant: which texts of `sharing.yaml` hold, where there are several.
        notes: what a reader has to know besides.
        further: {measure: value} of other stages.
        configs: of a data set: {configuration: {split: pattern of files}}.
    """

    files: Mapping[str, Path | bytes]
    words: Mapping[str, Any] = field(default_factory=dict)
    start: Start | None = None
    variant: str = ""
    notes: tuple[str, ...] = ()
    further: Mapping[str, float] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_output(project: Path, path: str, target: str, work: Path, *, hub: bool) -> Output:
    """An output with its origin.

    Raises:
        BadInput: no stage has made it, or it is not what it was when its stage, or one before it, had run.
    """
    lock = read_lock(project)
    stage = outputs_of(lock).get(path)
    if stage is None:
        raise BadInput(f"{LOCK} does not know it as a stage's output: run `make repro` first", file=project / path)
    Artifacts(project).use(path)
    sources: dict[str, str] = {}
    inputs: set[str] = set()
    for name in behind(lock, [stage]):
        inputs.update(dep["path"] for dep in lock[name].get("deps", ()))
        if name == "decorrelation-world@control":  # whatever the parameters say
            sources["control"] = SAMPLE
        if told := re.search(r"--source (\S+)", lock[name]["cmd"]):
            sources[name] = told[1]
        for key, value in (lock[name].get("params", {}).get("params.yaml") or {}).items():
            if world := re.fullmatch(r"world\.(\w+)", key):
                sources[world[1]] = value
    data, weights = (
        {what: sources[key] for key, what in TEXTS[kind].items() if key in sources} for kind in ("data", "weights")
    )
    metrics = tuple(out["path"] for out in lock[stage]["outs"] if re.fullmatch(r"metrics/.*\.json", out["path"]))
    parameters = lock[stage].get("params", {}).get("params.yaml") or {}
    return Output(project, path, target, hub, work, stage, parameters, metrics, frozenset(inputs), data, weights)


def start_in(folder: Path) -> Start:
    """What `provenance.json` says in the folder of a base model."""
    path = folder / PROVENANCE
    return _start(read_json(path)) if path.is_file() else Start(f"weights of {folder.name}, brought by the user", None)


def kvqae_start(output: Output) -> Start:
    """What KVQAE's text models start from: the authors' checkpoint, the encoder that the user brings, BERT, MiniLM."""
    for path in sorted(path for path in output.inputs if path.startswith("models/kvqae/published/")):
        if records := list(read_json(output.project / path / PROVENANCE).values()):
            return _start(records[0])
    source, base = output.weights.get(TEXTS["weights"]["kvqae-base_models"], SAMPLE), "models/kvqae/base"
    if source == SAMPLE:
        return Start(MINILM["from"], MINILM["licence"])
    if source == "hub":
        return _start(read_json(output.project / base / PROVENANCE)["bert"])
    licence = licence_of(output.project / base / "text", without_card=UNKNOWN[0])
    return Start("a text encoder that the user brought", licence)


def licences_of(output: Output) -> list[Start]:
    """Every licence that records of downloads state in the folders that a data set was made from, and of the rest."""
    starts: dict[Start, None] = {}
    for path in sorted(path for path in output.inputs if path.startswith("data/")):
        folder = output.project / path if (output.project / path).is_dir() else (output.project / path).parent
        places = {folder, folder.parent}  # the raw folder of KVQAE is several outputs
        names = (PROVENANCE, "sources.json", "provenance/*.json")
        for file in sorted({file for place in places for name in names for file in place.glob(name)}):
            starts |= dict.fromkeys(map(_start, _records(read_json(file))))
    invented = [Start("what the sample invents (this project's own licence)", "apache-2.0")] * bool(output.invented)
    own = [what for what, source in output.data.items() if source == "local"]  # of which nobody has a record
    return [*starts, *invented, *(Start(f"{what}, the user's own files", None) for what in own)]


def _records(tree: Any) -> Iterator[Mapping[str, Any]]:
    """Every object, at any depth, that states a licence."""
    if isinstance(tree, dict):
        if isinstance(tree.get("licence"), str):
            yield tree
        for value in tree.values():
            yield from _records(value)


def _start(record: Mapping[str, Any]) -> Start:
    licence = record["licence"]
    return Start(str(record.get("from") or record.get("url") or "a source"), None if licence in UNKNOWN else licence)


def pattern_of(path: str) -> str | None:
    """The pattern in `sharing.yaml` of an output; None where it does not leave."""
    parts = len(PurePosixPath(path).parts)
    return next((one for one in KINDS if parts == one.count("/") + 1 and PurePosixPath(path).match(one)), None)


def shareable(project: Path) -> dict[str, str]:
    """{path: model or dataset} of all that was made and can leave; `BadInput` as `read_lock`."""
    patterns = {path: pattern_of(path) for path in sorted(outputs_of(read_lock(project)))}
    return {path: KINDS[one]["kind"] for path, one in patterns.items() if one and (project / path).exists()}


def card_of(output: Output, prepared: Prepared) -> str:
    """The text of the card; `BadInput` when the stage's measures are not what `dvc.lock` says."""
    said = {name: _of_variant(value, prepared.variant) for name, value in KINDS[pattern_of(output.path)].items()}
    words = output.words | {word: output.parameter(key) for word, key in said.get("words", {}).items()}
    words |= prepared.words
    title, start, scores = said["title"].format(**words), prepared.start, dict(prepared.further)
    if start is None and said.get("start"):
        start = kvqae_start(output) if said["start"] == "kvqae" else start_in(output.project / said["start"])
    for path in output.metrics:
        Artifacts(output.project).use(path)
        values = read_json(output.project / path).items()
        scores |= {name: float(value) for name, value in values if re.fullmatch(said.get("measures", MEASURES), name)}
    licences = licences_of(output) if said["kind"] == "dataset" else [start] if start else []
    fields: dict[str, Any] = {"language": said.get("language"), "tags": ["trivium", *said.get("tags", ())]}
    stated = {one.licence for one in licences}
    if stated and None not in stated:
        known = len(stated) == 1 and stated <= {*TEXTS["licences"]}
        fields |= {"license": stated.pop()} if known else {"license": "other", "license_name": "see-the-card"}
    invented = ", ".join(output.invented)
    shown = {
        "title": title,
        "kind": said["kind"],
        "output": output,
        "invented": f"{invented[:1].upper()}{invented[1:]} {'is' if len(output.invented) == 1 else 'are'}",
        "stand_ins": ", ".join(what for what, source in output.weights.items() if source == SAMPLE),
        "paragraphs": [said["about"], *filter(None, [said.get("notes", "").format(**words)]), *prepared.notes],
        "usage": said["usage"].format(**words).strip(),
        "start": start,
        "licences": licences,
        "scores": sorted(scores.items()),
    }
    if said["kind"] == "dataset":
        configs = [
            {"config_name": name, "data_files": [{"split": split, "path": path} for split, path in files.items()]}
            for name, files in prepared.configs.items()
        ]
        of_data = DatasetCardData(pretty_name=title, task_categories=[said["task"]], configs=configs, **fields)
        return f"{DatasetCard.from_template(of_data, str(TEMPLATE), **shown)}\n"
    names, task = ", ".join(output.data) or "its own data", said.get("task")
    own, of = ("trivium-sample", f"the sample's invented counterparts of {names}") if invented else ("trivium", names)
    results = [EvalResult(task or "other", own, of, name, round(value, 4)) for name, value in scores.items()]
    if results:
        fields |= {"model_name": title, "eval_results": results}
    base = start.hub_name if start else None
    data = ModelCardData(library_name=said["library"], pipeline_tag=task, base_model=base, **fields)
    return f"{ModelCard.from_template(data, str(TEMPLATE), **shown)}\n"


def _of_variant(value: Any, variant: str) -> Any:
    return value.get(variant) if variant and isinstance(value, Mapping) else value
