"""The card of a shared output: what it is, what it was made from, its licence and its scores.

The texts for each kind of output stand in `sharing.yaml`, the page in `sharing.md`. The origin is that of `dvc.lock`;
`Artifacts` checks first that the files are those it lists.
"""

import re
from collections.abc import Mapping
from json import dumps
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml
from huggingface_hub import DatasetCard, DatasetCardData, ModelCard, ModelCardData

from trivium.core.errors import BadInput
from trivium.core.lock import LOCK, Artifacts, ancestors_of, outputs_of, read_lock
from trivium.core.parameters import value_at
from trivium.core.tables import read_json
from trivium.nets.cards import CARD, licence_of
from trivium.sources.brought import PROVENANCE
from trivium.sources.plain_weights import MINILM

TEXTS, KINDS = yaml.safe_load_all(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
EVALUATED = "metrics/decorrelation/evaluate.json"
TEMPLATE = Path(__file__).with_name("sharing.md")
SAMPLE = "sample"
UNKNOWN = ("other", "not stated")  # licences of a user's own files, and in pins.yaml
MEASURES = r"(validation_(?:mrr|em|f1|rouge_l|r@1|text_r@1|auc|accuracy))"


class Origin(NamedTuple):
    """Weights or data that an output was made from; the licence is None where nobody has stated one."""

    name: str
    licence: str | None

    @property
    def hub_name(self) -> str | None:
        """`OWNER/NAME` on the hub, or None."""
        match = re.match(r"[\w.-]+/[\w.-]+", self.name)
        return match[0] if match and (match[0] == self.name or self.name == MINILM["from"]) else None


class Output:
    """An output to share, with what `dvc.lock` says of its stage and of all stages before it.

    Raises:
        BadInput: no stage has made it, or it or one of its inputs has changed since.
    """

    def __init__(self, project: Path, path: str, target: str, work: Path, *, hub: bool) -> None:
        self.project, self.path, self.source = project, path, project / path
        self.target, self.hub = target, hub  # OWNER/NAME of a repository, or else a folder
        self.work = work  # a temporary folder for files that have to be made
        self.words = dict[str, Any]()  # values of the braces in `sharing.yaml`
        self.variant = ""  # which of several texts of `sharing.yaml` hold
        self.base: Origin | None = None  # the weights that a model started from, where `sharing.yaml` does not say
        lock = read_lock(project)
        stage = outputs_of(lock).get(path)
        if stage is None:
            raise BadInput(f"{LOCK} does not know it as a stage's output: run `make repro` first", file=self.source)
        Artifacts(project).use(path)
        self.files = {name: file for name, file in files_in(self.source).items() if name != CARD}  # by relative paths
        self.stage, self.parameters = stage, _parameters(lock[stage])
        outs = (out["path"] for out in lock[stage]["outs"])
        self.metrics = [out for out in outs if re.fullmatch(r"metrics/.*\.json", out)]
        self.inputs, sources = set[str](), dict[str, str]()  # of the stage and all before it
        for name in ancestors_of(lock, [stage]):
            self.inputs.update(dep["path"] for dep in lock[name].get("deps", ()))
            if name == "decorrelation-world@control":  # whatever the parameters say
                sources["control"] = SAMPLE
            if option := re.search(r"--source (\S+)", lock[name]["cmd"]):
                sources[name] = option[1]
            worlds = {key: value for key, value in _parameters(lock[name]).items() if key.startswith("world.")}
            sources |= {key.removeprefix("world."): value for key, value in worlds.items()}
        # {name in `sharing.yaml`: sample, hub or local}
        self.data, self.weights = (
            {name: sources[key] for key, name in TEXTS[kind].items() if key in sources} for kind in ("data", "weights")
        )

    @property
    def invented(self) -> list[str]:
        """The data sets of the sample world among `data`."""
        return [name for name, source in self.data.items() if source == SAMPLE]

    def parameter(self, key: str) -> Any:
        """The value at a dotted key of the stage's parameters, of which `dvc.lock` may have the section."""
        above, value = next(item for item in self.parameters.items() if f"{key}.".startswith(f"{item[0]}."))
        return value if above == key else value_at(value, Path(LOCK), key.removeprefix(f"{above}."))

    def write(self, name: str, text: str) -> None:
        """Share a text as a file."""
        self.files[name] = self.work / name
        self.files[name].write_text(text, "utf-8")


def files_in(folder: Path) -> dict[str, Path]:
    """All files of a folder, at any depth, by their relative paths."""
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


def _parameters(stage: Mapping[str, Any]) -> dict[str, Any]:
    return stage.get("params", {}).get("params.yaml") or {}


def origins_in(folder: Path) -> dict[str, Origin]:
    """{name: origin} that the records of downloads in a folder state; a single one has no name."""
    origins = {}
    for file in (folder / PROVENANCE, folder / "sources.json"):
        tree = read_json(file) if file.is_file() else {}
        for name, record in ({"": tree} if "licence" in tree else tree).items():
            if "licence" in record:
                source = str(record.get("from") or record.get("url") or "a source")
                origins[name] = Origin(source, None if record["licence"] in UNKNOWN else record["licence"])
    return origins


def base_in(folder: Path) -> Origin:
    """The origin of a base model in its folder."""
    return next(iter(origins_in(folder).values()), Origin(f"weights of {folder.name}, brought by the user", None))


def kvqae_base(output: Output) -> Origin:
    """What KVQAE's text models start from: the authors' checkpoint, the user's encoder, BERT or MiniLM."""
    for path in sorted(path for path in output.inputs if path.startswith("models/kvqae/published/")):
        if origins := origins_in(output.project / path):
            return next(iter(origins.values()))
    source, base = output.weights.get(TEXTS["weights"]["kvqae-base_models"], SAMPLE), "models/kvqae/base"
    if source == SAMPLE:
        return Origin(MINILM["from"], MINILM["licence"])
    if source == "hub":
        return origins_in(output.project / base)["bert"]
    licence = licence_of(output.project / base / "text", without_card=UNKNOWN[0])
    return Origin("a text encoder that the user brought", licence)


def data_origins(output: Output) -> list[Origin]:
    """The origins of the data that a data set was made from."""
    origins: dict[Origin, None] = {}
    for path in sorted(path for path in output.inputs if path.startswith("data/")):
        origins |= dict.fromkeys(origins_in(output.project / path).values())
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


def card_of(output: Output) -> str:
    """The text of the card; `BadInput` when the stage's metrics are not what `dvc.lock` says."""
    texts: dict[str, Any] = {
        name: value.get(output.variant) if output.variant and isinstance(value, Mapping) else value
        for name, value in KINDS[pattern_of(output.path)].items()
    }
    name, is_data = dumps(output.target), texts["kind"] == "dataset"
    words = {
        "name": name,  # as libraries take it; `where` is the folder, for this project's own code
        "where": f'__import__("huggingface_hub").snapshot_download({name})' if output.hub else name,
        "shot": ", ".join(output.path.split("/")[3:]).replace("_", "-"),
        **{word: output.parameter(key) for word, key in texts.get("words", {}).items()},
        **output.words,
    }
    base = output.base or (kvqae_base(output) if texts.get("start") == "kvqae" else None)
    scores: dict[str, float] = {}
    measured = dict.fromkeys(output.metrics, MEASURES)
    if "scores" in texts and (output.project / EVALUATED).is_file():
        measured[EVALUATED] = f"{output.source.name}_({texts['scores']})"
    for path, pattern in measured.items():
        Artifacts(output.project).use(path)
        matches = {re.fullmatch(pattern, name): value for name, value in read_json(output.project / path).items()}
        scores |= {match[1]: float(value) for match, value in matches.items() if match}
    origins = data_origins(output) if is_data else [base] if base else []
    fields: dict[str, Any] = {"language": texts.get("language"), "tags": ["trivium", *texts.get("tags", ())]}
    licences = {origin.licence for origin in origins}
    if licences and None not in licences:
        is_one = len(licences) == 1 and licences <= {*TEXTS["licences"]}
        fields |= {"license": licences.pop()} if is_one else {"license": "other", "license_name": "see-the-card"}
    title, invented = texts["title"].format(**words), ", ".join(output.invented)
    shown = {
        "title": title,
        "kind": texts["kind"],
        "output": output,
        "invented": f"{invented[:1].upper()}{invented[1:]} {'is' if len(output.invented) == 1 else 'are'}",
        "stand_ins": ", ".join(name for name, source in output.weights.items() if source == SAMPLE),
        "paragraphs": [texts["about"], *filter(None, [texts.get("notes", "").format(**words).strip()])],
        "usage": texts["usage"].format(**words).strip(),
        "base": base,
        "origins": origins,
        "scores": sorted(scores.items()),
    }
    if is_data:
        fields["configs"] = [
            {"config_name": name.removesuffix(".parquet"), "data_files": [{"split": "test", "path": name}]}
            for name in output.files
        ]
        data: Any = DatasetCardData(pretty_name=title, task_categories=[texts["task"]], **fields)
    else:
        fields |= {"library_name": texts["library"], "pipeline_tag": texts.get("task")}
        data = ModelCardData(base_model=base.hub_name if base else None, **fields)
    kind: Any = DatasetCard if is_data else ModelCard
    return f"{kind.from_template(data, str(TEMPLATE), **shown)}\n"
