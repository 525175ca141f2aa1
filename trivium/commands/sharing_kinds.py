"""The files of outputs that `trivium push` does not share as they are, one function a pattern of `sharing.yaml`."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trivium.commands.sharing import Output, base_in, card_of, files_in, pattern_of, shareable
from trivium.complexity.readers.interface import SETTINGS
from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.nets.cards import CARD
from trivium.nets.open_clip_folder import CONFIG as OPEN_CLIP

WEAK = "A small configuration that hardly reads: it shows that the path works, no more."


def prepare_dpr(output: Output) -> None:
    """Join DPR's two encoders in one model of sentence-transformers, one route for questions, one for passages."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Router, Transformer

    towers = {}
    for tower in ("question", "passage"):
        bert = Transformer(
            str(output.source / tower),
            max_seq_length=int(output.parameter("kvqae.texts.tokens")),
            model_kwargs={"add_pooling_layer": False, "use_safetensors": True, "local_files_only": True},
            processor_kwargs={"local_files_only": True},
        )
        towers[tower] = [bert, Pooling(int(bert.auto_model.config.hidden_size), "cls")]
    router = Router.for_query_document(towers["question"], towers["passage"])
    model = SentenceTransformer(modules=[router], device="cpu", similarity_fn_name="dot", trust_remote_code=False)
    model.save_pretrained(str(output.work), create_model_card=False)
    output.files = files_in(output.work)


def prepare_french_reader(output: Output) -> None:
    """Take a French reader in transformers' format; an adapter of peft's names its base model on the hub."""
    settings = read_json(output.source / SETTINGS)
    base = base_in(output.project / "models/complexity/base" / settings["base"])
    types = ""
    if settings["kind"] == "causal":
        if base.hub_name is None:
            problem = "an adapter of weights that are not on the hub cannot be shared"
            raise BadInput(problem, file=output.source, got=base.name, expected="a base model of the hub")
        config = read_json(output.source / "adapter_config.json") | {"base_model_name_or_path": base.hub_name}
        output.files.pop("base.json", None)
        output.write("adapter_config.json", json.dumps(config, indent=2))
    elif settings["kind"] == "extractive" and read_json(output.source / "config.json").get("type_vocab_size", 1) > 1:
        # Segments as in training: of some tokenizers, CamemBERT's among them, they are not the tokenizer's own.
        types = 'inputs["token_type_ids"] = (inside.cumsum(0) > 0).long()[None]\n'
    output.base, output.variant = base, settings["kind"]
    output.words = {
        "label": settings["label"],
        "seed": output.source.name,
        "base": json.dumps(base.hub_name),
        "tokens": settings["max_tokens"],
        "longest": settings["answer_tokens"],
        "types": types,
        "template": json.dumps(settings.get("template"), ensure_ascii=False),
        "weak": WEAK * bool(settings.get("weak")),
    }


def prepare_retrieval_model(output: Output) -> None:
    """Take a cell of decorrelation: CLIP in open_clip's format, BLIP in transformers', VSE++ in this project's."""
    cell, config = output.source.name, read_json(output.source / "config.json")
    settings = output.parameter(f"decorrelation.cells.{cell}")
    base = output.parameter(f"decorrelation.train.models.{settings['model']}.base")
    output.base = base_in(output.project / "models/decorrelation/base" / base)
    output.variant = config["kind"] if config["kind"] in ("clip", "blip") else "ours"
    output.words = {"network": config["kind"].upper(), "cell": cell, "tokens": config.get("text_tokens")}
    told = ", ".join(f"{key} `{value}`" for key, value in settings.items())
    output.words["training"] = f"Trained as the cell {cell} of `decorrelation.cells`: {told}."
    if output.variant == "clip":
        output.words["name"] = json.dumps(f"{'hf-hub' if output.hub else 'local-dir'}:{output.target}")
        if output.hub and "tokenizer.json" in output.files:  # open_clip looks for it where the configuration says
            clip = read_json(output.source / OPEN_CLIP)
            clip["model_cfg"]["text_cfg"]["hf_tokenizer_name"] = output.target
            output.write(OPEN_CLIP, json.dumps(clip, indent=2))
    elif output.variant == "blip":
        output.write("preprocessor_config.json", _blip_processor(config["vision_config"]["image_size"]))


def _blip_processor(side: int) -> str:
    """The preprocessing of `decorrelation/models/blip.py`: both sides scaled, bicubic, CLIP's mean and deviation."""
    from PIL.Image import Resampling
    from transformers import BlipImageProcessor

    from trivium.decorrelation.models.interface import CLIP

    mean, deviation = map(list, CLIP)
    size = {"height": side, "width": side}
    processor = BlipImageProcessor(size=size, resample=Resampling.BICUBIC, image_mean=mean, image_std=deviation)
    return processor.to_json_string()


def prepare_released_sets(output: Output) -> None:
    """Take the sets of `trivium odmap` as they are, a configuration a data set."""
    first = next(iter(output.files)).removesuffix(".parquet")
    output.words = {"first": json.dumps(first), "dataset": first.partition("_")[0], "target": output.target}


PREPARE: dict[str, Callable[[Output], None]] = {
    "models/kvqae/dpr/*": prepare_dpr,
    "models/complexity/readers/*/seed-*": prepare_french_reader,
    "models/decorrelation/cells/*": prepare_retrieval_model,
    "data/decorrelation/sets": prepare_released_sets,
}


@contextmanager
def pack_output(project: Path, path: str, target: str, *, hub: bool) -> Iterator[dict[str, Path]]:
    """Yield the files of an output, its card among them; `target` is the folder or repository that they go to.

    Raises:
        BadInput: no such output, one that cannot be shared, or one that is not what `dvc.lock` says.
    """
    pattern = pattern_of(path)
    if pattern is None:
        raise BadInput("not an output that can be shared", got=path, choices=shareable(project))
    with tempfile.TemporaryDirectory(prefix="trivium-push-") as work:
        output = Output(project, path, target, Path(work), hub=hub)
        if pattern in PREPARE:
            PREPARE[pattern](output)
        output.write(CARD, card_of(output))
        yield output.files
