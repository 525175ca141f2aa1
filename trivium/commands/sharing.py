"""The card of a shared output: what it is, what it was made from, its licence and its scores.

The texts for each kind of output stand in `sharing.yaml`, the page in `sharing.md`. The origin is that of `dvc.lock`;
`Artifacts` checks first that the files are those it lists.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from json import dumps
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml
from huggingface_hub import DatasetCard, DatasetCardData, ModelCard, ModelCardData

from trivium.core.errors import BadInput
from trivium.core.lock import LOCK, Artifacts, behind, outputs_of, read_lock
from trivium.core.tables import read_json
from trivium.nets.cards import CARD, licence_of
from trivium.sources.brought import PROVENANCE
from trivium.sources.plain_weights import MINILM

TEXTS, KINDS = yaml.safe_load_all(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
TEMPLATE = Path(__file__).with_name("sharing.md")
SAMPLE = "sample"
UNKNOWN = ("other", "not stated")  # licences of a user's own files, and in pins.yaml
MEASURES = r"validation_(?:mrr|em|f1|rouge_l|r@1|text_r@1|auc|accuracy)"


class Origin(NamedTuple):
    """Weights or data that an output was made from; the licence is None where nobody has stated one."""

    name: str
    licence: str | None

    @property
    def hub_name(self) -> str | None:
        """`OWNER/NAME` on the hub, or None."""
        match = re.match(r"[\w.-]+/[\w.-]+", self.name)
        return match[0] if match and (match[0] == self.name or self.name == MINILM["from"]) else None


@dataclass(frozen=True)
class Output:
    """An output to share, with what `dvc.lock` says of its stage and of all stages before it.

    Attributes:
        project: the repository of the graph.
        path: of the output in the project.
        target: the folder, or OWNER/NAME of a repository, that it goes to.
        hub: whether the target is a repository.
        work: a temporary folder for files that have to be made.
        stage: the stage that made it.
        parameters: of the stage, by dotted key.
        metrics: paths of the stage's metrics.
        inputs: paths that the stage and all before it read.
        data, weights: {name in `sharing.yaml`: sample, hub or local}.
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
        """The output's folder."""
        return self.project / self.path

    @property
    def invented(self) -> list[str]:
        """The data sets of the sample world among `data`."""
        return [name for name, source in self.data.items() if source == SAMPLE]

    def parameter(self, key: str) -> Any:
        """The value at a dotted key of the stage's parameters, of which `dvc.lock` may have the section."""
        above, value = next(item for item in self.parameters.items() if f"{key}.".startswith(f"{item[0]}."))
        for part in filter(None, key.removeprefix(above).split(".")):
            value = value[part]
        return value

    def files(self, *left_out: str) -> dict[str, Path | bytes]:
        """The output's files by their relative paths, without its card and those left out."""
        paths = sorted(path for path in self.source.rglob("*") if path.is_file())
        named = {str(path.relative_to(self.source)): path for path in paths}
        return {name: path for name, path in named.items() if name not in {CARD, *left_out}}


@dataclass(frozen=True)
class Prepared:
    """The files to share, {relative path: a file, or bytes}, and what the card says besides `sharing.yaml`.

    Attributes:
        words: values of the braces in `sharing.yaml`.
        base: the weights that a model started from, where `sharing.yaml` does not say.
        variant: which of several texts of `sharing.yaml` hold.
        notes: further paragraphs.
        scores: {measure: value} of other stages.
        configs: of a data set: {configuration: pattern of its files}.
    """

    files: Mapping[str, Path | bytes]
    words: Mapping[str, Any] = field(default_factory=dict)
    base: Origin | None = None
    variant: str = ""
    notes: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    configs: Mapping[str, str] = field(default_factory=dict)


def read_output(project: Path, path: str, target: str, work: Path, *, hub: bool) -> Output:
    """Read an output's origin from `dvc.lock`.

    Raises:
        BadInput: no stage has made it, or it or one of its inputs has changed since.
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
        if option := re.search(r"--source (\S+)", lock[name]["cmd"]):
            sources[name] = option[1]
        for key, value in (lock[name].get("params", {}).get("params.yaml") or {}).items():
            if world := re.fullmatch(r"world\.(\w+)", key):
                sources[world[1]] = value
    data, weights = (
        {name: sources[key] for key, name in TEXTS[kind].items() if key in sources} for kind in ("data", "weights")
    )
    metrics = tuple(out["path"] for out in lock[stage]["outs"] if re.fullmatch(r"metrics/.*\.json", out["path"]))
    parameters = lock[stage].get("params", {}).get("params.yaml") or {}
    return Output(project, path, target, hub, work, stage, parameters, metrics, frozenset(inputs), data, weights)


def origin_of(record: Mapping[str, Any]) -> Origin:
    """The origin that a record of a download states."""
    licence = record["licence"]
    return Origin(str(record.get("from") or record.get("url") or "a source"), None if licence in UNKNOWN else licence)


def base_in(folder: Path) -> Origin:
    """The origin that `provenance.json` in the folder of a base model states."""
    path = folder / PROVENANCE
    if not path.is_file():
        return Origin(f"weights of {folder.name}, brought by the user", None)
    return origin_of(read_json(path))


def kvqae_base(output: Output) -> Origin:
    """What KVQAE's text models start from: the authors' checkpoint, the user's encoder, BERT or MiniLM."""
    for path in sorted(path for path in output.inputs if path.startswith("models/kvqae/published/")):
        if records := list(read_json(output.project / path / PROVENANCE).values()):
            return origin_of(records[0])
    source, base = output.weights.get(TEXTS["weights"]["kvqae-base_models"], SAMPLE), "models/kvqae/base"
    if source == SAMPLE:
        return Origin(MINILM["from"], MINILM["licence"])
    if source == "hub":
        return origin_of(read_json(output.project / base / PROVENANCE)["bert"])
    licence = licence_of(output.project / base / "text", without_card=UNKNOWN[0])
    return Origin("a text encoder that the user brought", licence)


def data_origins(output: Output) -> list[Origin]:
    """The origins that the records of downloads state beside the data that a data set was made from."""
    origins: dict[Origin, None] = {}
    for path in sorted(path for path in output.inputs if path.startswith("data/")):
        for file in (output.project / path / name for name in (PROVENANCE, "sources.json")):
            records = read_json(file).values() if file.is_file() else ()
            origins |= {origin_of(record): None for record in records if "licence" in record}
    invented = [Origin("what the sample invents (this project's own licence)", "apache-2.0")] * bool(output.invented)
    own = [name for name, source in output.data.items() if source == "local"]  # of which nobody has a record
    return [*origins, *invented, *(Origin(f"{name}, the user's own files", None) for name in own)]


def pattern_of(path: str) -> str | None:
    """The pattern of `sharing.yaml` that an output has, or None."""
    parts = len(PurePosixPath(path).parts)
    return next((one for one in KINDS if parts == one.count("/") + 1 and PurePosixPath(path).match(one)), None)


def shareable(project: Path) -> dict[str, str]:
    """{path: model or dataset} of all outputs there are that can be shared; raises as `read_lock`."""
    patterns = {path: pattern_of(path) for path in sorted(outputs_of(read_lock(project)))}
    return {path: KINDS[one]["kind"] for path, one in patterns.items() if one and (project / path).exists()}


def card_of(output: Output, prepared: Prepared) -> str:
    """The text of the card; `BadInput` when the stage's metrics are not what `dvc.lock` says."""
    variant = prepared.variant
    texts: dict[str, Any] = {
        name: value.get(variant) if variant and isinstance(value, Mapping) else value
        for name, value in KINDS[pattern_of(output.path)].items()
    }
    name = dumps(output.target)
    words = {
        "name": name,  # as libraries take it; `where` is the folder, for this project's own code
        "where": f'__import__("huggingface_hub").snapshot_download({name})' if output.hub else name,
        "shot": ", ".join(output.path.split("/")[3:]).replace("_", "-"),
        **{word: output.parameter(key) for word, key in texts.get("words", {}).items()},
        **prepared.words,
    }
    title, base, scores = texts["title"].format(**words), prepared.base, dict(prepared.scores)
    if base is None and texts.get("start") == "kvqae":
        base = kvqae_base(output)
    for path in output.metrics:
        Artifacts(output.project).use(path)
        values = read_json(output.project / path).items()
        scores |= {name: float(value) for name, value in values if re.fullmatch(MEASURES, name)}
    origins = data_origins(output) if texts["kind"] == "dataset" else [base] if base else []
    fields: dict[str, Any] = {"language": texts.get("language"), "tags": ["trivium", *texts.get("tags", ())]}
    licences = {origin.licence for origin in origins}
    if licences and None not in licences:
        is_one = len(licences) == 1 and licences <= {*TEXTS["licences"]}
        fields |= {"license": licences.pop()} if is_one else {"license": "other", "license_name": "see-the-card"}
    invented = ", ".join(output.invented)
    shown = {
        "title": title,
        "kind": texts["kind"],
        "output": output,
        "invented": f"{invented[:1].upper()}{invented[1:]} {'is' if len(output.invented) == 1 else 'are'}",
        "stand_ins": ", ".join(name for name, source in output.weights.items() if source == SAMPLE),
        "paragraphs": [texts["about"], *filter(None, [texts.get("notes", "").format(**words)]), *prepared.notes],
        "usage": texts["usage"].format(**words).strip(),
        "base": base,
        "origins": origins,
        "scores": sorted(scores.items()),
    }
    if texts["kind"] == "dataset":
        configs = [
            {"config_name": name, "data_files": [{"split": "test", "path": path}]}
            for name, path in prepared.configs.items()
        ]
        of_data = DatasetCardData(pretty_name=title, task_categories=[texts["task"]], configs=configs, **fields)
        return f"{DatasetCard.from_template(of_data, str(TEMPLATE), **shown)}\n"
    hub_name = base.hub_name if base else None
    of_model = ModelCardData(
        library_name=texts["library"], pipeline_tag=texts.get("task"), base_model=hub_name, **fields
    )
    return f"{ModelCard.from_template(of_model, str(TEMPLATE), **shown)}\n"
