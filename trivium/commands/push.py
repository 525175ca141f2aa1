"""`trivium push`: share a model or a data set that the graph has made, in a folder or a repository of the hub.

    trivium push
    trivium push models/decorrelation/cells/coco_clip_ours_0 --folder shared/my_clip --send

A card says what it is, where it is from and how to load it. Nothing leaves without --send: the card and the files are
shown. What can leave, and what the card says: docs/sharing.md.
"""

import json
import os
import re
import shutil
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from trivium.commands.sharing import Output, base_in, card_of, files_in, pattern_of, shareable
from trivium.complexity.readers.interface import SETTINGS
from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.nets.cards import CARD
from trivium.nets.open_clip_folder import CONFIG as OPEN_CLIP

TOKEN = "HF_TOKEN"
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


PREPARE: dict[str, Callable[[Output], None]] = {  # by patterns of `sharing.yaml`: the others are shared as they are
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


def options(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("output", nargs="?", metavar="OUTPUT", help="a path of the project; without one all are listed")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--folder", type=Path, metavar="FOLDER", help="a new folder to write it to")
    target.add_argument("--hub", metavar="OWNER/NAME", help="a repository of the hub; the token is in HF_TOKEN")
    add("--send", action="store_true", help="write or upload the files; without this they are only shown")


def run(arguments: Namespace) -> None:
    """List, show or send outputs.

    Raises:
        BadInput: see `pack_output` and `send`; the folder exists already, or there is no token.
    """
    folder, hub = arguments.folder, arguments.hub
    if arguments.output and folder is None and hub is None:
        arguments.refuse("--folder or --hub is needed")
    if not arguments.output and (arguments.send or folder or hub):
        arguments.refuse("OUTPUT is needed")
    kinds = shareable(Path())
    if not arguments.output:
        width = max(map(len, kinds), default=0)
        lines = [f"{name:{width}}  {kind}" for name, kind in kinds.items()]
        print("\n".join(lines) or "Nothing that can be shared was made yet: run `make repro` first.")
        return
    path = str(PurePosixPath(arguments.output))
    if hub and not re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", hub):
        raise BadInput("not a repository's name", field="--hub", got=hub, expected="OWNER/NAME")
    if folder and folder.exists():
        raise BadInput("the folder exists already", file=folder, expected="a new folder")
    if hub and arguments.send and not os.environ.get(TOKEN):
        raise BadInput("no token", field=TOKEN, expected="one that may write, in this environment variable")
    with pack_output(Path(), path, hub or str(folder), hub=bool(hub)) as files:
        if arguments.send and hub:
            print(f"Sent: {send(files, hub, kinds[path])}")
        elif arguments.send:
            with write_folder(folder) as part:
                for name, file in files.items():
                    (part / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, part / name)
            print(f"Written: {folder}")
        else:
            target = f"the {kinds[path]} repository {hub}" if hub else f"the folder {folder}"
            rows = [f"{file.stat().st_size:>14,}  {name}" for name, file in sorted(files.items())]
            card = files[CARD].read_text("utf-8")
            print("\n".join([card, *rows, f"Nothing was sent. With --send this goes to {target}."]))


def send(files: Mapping[str, Path], repository: str, kind: str) -> str:
    """Put files, by their paths there, into a repository of the hub in one commit; a new one is private.

    A repository that is there keeps who may see it. The token is the environment's and no other.

    Returns:
        The commit's address.

    Raises:
        BadInput: it holds files that are not sent and that its card would say nothing of, or the hub refuses.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    from trivium.sources.download import HTTP_ERROR

    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"), token=os.environ[TOKEN])
    operations = [CommitOperationAdd(name, str(file)) for name, file in files.items()]
    try:
        api.create_repo(repository, repo_type=kind, private=True, exist_ok=True)
        if others := sorted({*api.list_repo_files(repository, repo_type=kind)} - {*files, ".gitattributes"}):
            raise BadInput("the repository holds other files", field="--hub", got=others[:3],
                           expected="a new one, or one that the same output was sent to")  # fmt: skip
        message = "Share an output of Trivium's graph"
        return str(api.create_commit(repository, operations, commit_message=message, repo_type=kind).commit_url)
    except (HTTP_ERROR, OSError) as error:
        reason = str(error).strip().replace("\n", " ")
        raise BadInput(f"the hub refuses: {reason}", field="--hub", got=repository) from None
