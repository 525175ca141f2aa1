"""Public encoders from which KVQAE starts: downloaded as pinned, or the user's own, and checked (kvqae.md §3, §8).

A user's face model is ONNX, or a state dict of InsightFace's `arcface_torch`, which is converted to ONNX. A list of the
persons that it was trained on may come with it.

The paper's face model is `ms1mv3_arcface_r50_fp16/backbone.pth`, trained on MS-Celeb-1M as MS1MV3. Its architecture,
IResNet, is a convolution, four layers of residual blocks (batch norm, 3 × 3, batch norm, PReLU, 3 × 3, batch norm),
then batch norm, a linear layer and batch norm. In the first block of each layer the second convolution has stride 2,
and the shortcut is a convolution, too. The number and the width of blocks are read from the tensors.

The authors' own zero-shot DPR and reader can be started from instead of pretraining (§8). DPR's folder holds `question`
and `passage`, the reader's `reader`, each as the stages that would train it write it.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import save_file
from transformers import AutoTokenizer, BertConfig, BertForQuestionAnswering, BertModel, PreTrainedTokenizerBase

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput, naming
from trivium.core.tables import read_json, write_json
from trivium.core.zips import unpack_member
from trivium.kvqae.rerankers.model_files import IDENTITIES, read_entities
from trivium.kvqae.retrieval.text_encoder import load_text_encoder, save_text_encoder
from trivium.nets.cards import CARD, write_card
from trivium.nets.weights import WEIGHTS, load_weights, read_weights
from trivium.sources.brought import PROVENANCE, bring, hash_files, require_files, sha256_of
from trivium.sources.download import fetch_into
from trivium.sources.plain_weights import PICKLED, read_pickled
from trivium.vision.align import SIZE
from trivium.vision.encoder_registry import ENCODERS

FACE_MODEL = Path("arcface/model.onnx")  # below the base models
PUBLIC = ("arcface", "clip", "imagenet")  # image encoders whose weights every source gives; others bring their own
BACKBONE = "backbone.pth"  # as arcface_torch names it
# InsightFace's w600k_r50.onnx, as many who load it state: the model that the hub gives, trained on WebFace600K.
WEBFACE = "4c06341c33c2ca1f86781dab0e829f88ad5b64be9fba56e56bc9ebdefc619e43"


def fetch_base_models(out: Path, downloads: Path, brought: Path | None = None) -> dict[str, float]:
    """Download the public encoders and write them as `text/`, `arcface/`, `clip/`, `imagenet/`.

    `provenance.json` has revisions, digests and licences. A face model in `arcface/` of `brought`, the user's folder,
    replaces the public one; there may be `overlap/identities.txt`, too. Returns bytes of each model's weights, and the
    counts of `bring_identities`.
    """
    own_face = brought is not None and (brought / FACE_MODEL).parent.is_dir()
    sources = ("bert", "clip", "imagenet", *(() if own_face else ("arcface",)))
    with fetch_into(sources, out, downloads) as (temporary, files, pins):
        for source, folder in (("bert", "text"), ("clip", "clip")):
            (temporary / folder).mkdir()
            for file, path in files[source].items():
                shutil.copyfile(path, temporary / folder / file)
        if brought is not None and own_face:
            bring_face_model((brought / FACE_MODEL).parent, temporary / FACE_MODEL)
        else:
            unpack_member(files["arcface"]["buffalo_l.zip"], "w600k_r50.onnx", temporary / FACE_MODEL)
        (weights,) = files["imagenet"].values()
        (temporary / "imagenet").mkdir()
        save_file(read_pickled(weights), temporary / "imagenet" / WEIGHTS)
        write_json(temporary / "imagenet" / "config.json", {"architecture": "resnet50", "size": 224})
        listed = bring_identities(brought, temporary) if brought else {}
        own = {"arcface": hash_files(temporary / "arcface")} if own_face else {}
        write_json(temporary / PROVENANCE, pins.summary(sources) | own)
    names = {"text": WEIGHTS, "clip": "open_clip_model.safetensors", "arcface": FACE_MODEL.name, "imagenet": WEIGHTS}
    return {f"{name}_bytes": float((out / name / file).stat().st_size) for name, file in names.items()} | listed


def check_base_models(source: Path, out: Path) -> dict[str, float]:
    """Check a folder laid out as `models/kvqae/base` (`text/`, `arcface/`, `clip/`, `imagenet/`) and copy it there.

    `overlap/identities.txt` may be missing. `arcface/` holds `model.onnx`, or a state dict that is converted. Returns
    the counts of `validate_base_models` and `bring_identities`.
    """
    with write_atomically(out) as temporary:
        bring_face_model((source / FACE_MODEL).parent, temporary / FACE_MODEL)
        for folder in ("clip", "imagenet", "text"):
            files = (path for path in sorted((source / folder).rglob("*")) if path.is_file())
            bring(source, temporary, (str(path.relative_to(source)) for path in files))
        with naming(source, instead_of=temporary):
            counts = validate_base_models(temporary)
        counts |= bring_identities(source, temporary)
        write_json(temporary / PROVENANCE, hash_files(temporary))
        if not (temporary / "text" / CARD).exists():  # models that start from it name its licence
            write_card(
                temporary / "text", title="Text encoder", description="Brought by the user, without a card.",
                base="not known", data="not known", metrics={}, licence=None,
            )  # fmt: skip
    return counts


def validate_base_models(base: Path) -> dict[str, float]:
    """Load text, face, CLIP and ImageNet encoders as the stages do; returns the text encoder's parameters."""
    files = [f"{name}/{file}" for name in PUBLIC for file in ENCODERS[name].files]
    require_files(base, ["text/config.json", "text/model.safetensors", *files])
    cpu = torch.device("cpu")
    text, _ = load_text_encoder(base / "text", cpu)
    for name in PUBLIC:
        ENCODERS[name].load(base / name, cpu)
    return {"text_parameters": float(sum(weights.numel() for weights in text.parameters()))}


def bring_face_model(source: Path, out: Path) -> None:
    """Copy `model.onnx` of the user's folder, or convert its `backbone.pth`."""
    out.parent.mkdir(parents=True, exist_ok=True)
    if (source / FACE_MODEL.name).is_file():
        shutil.copyfile(source / FACE_MODEL.name, out)
    elif (source / BACKBONE).is_file():
        onnx.save(iresnet(read_pickled(source / BACKBONE), source / BACKBONE), str(out))
    else:
        names = ", ".join(sorted(path.name for path in source.glob("*"))) or "nothing"
        raise BadInput("no face model", file=source, got=names, choices=(FACE_MODEL.name, BACKBONE))


def bring_identities(source: Path, out: Path) -> dict[str, float]:
    """Copy ArcFace's overlap list to the base models if the user's folder has one; returns `identities_listed`.

    It is refused unless the face model is the user's own, and not the one trained on WebFace600K, whose identities
    nobody has listed.
    """
    if not (source / IDENTITIES).is_file():
        return {}
    if not (source / FACE_MODEL).parent.is_dir() or sha256_of(out / FACE_MODEL) == WEBFACE:
        raise BadInput(
            "this list does not say whom the face model was trained on", file=source / IDENTITIES,
            got="w600k_r50, trained on WebFace600K",
            expected=f"the model whose training set the list names, in {(source / FACE_MODEL).parent}",
        )  # fmt: skip
    listed = read_entities(source / IDENTITIES)
    bring(source, out, [str(IDENTITIES)])
    return {"identities_listed": float(len(listed))}


def iresnet(state: dict[str, torch.Tensor], path: Path) -> onnx.ModelProto:
    """Make the ONNX model from (n, 3, 112, 112) to (n, dimension) of a state dict, which was read from `path`."""
    graph = _Graph(state, path)
    x = graph.prelu(graph.norm(graph.convolve("input", "conv1"), "bn1"), "prelu")
    blocks = sorted({(int(name[5]), int(name.split(".")[1])) for name in state if name.startswith("layer")})
    for layer, block in blocks:
        name, stride = f"layer{layer}.{block}", 1 if block else 2
        y = graph.norm(graph.convolve(graph.norm(x, f"{name}.bn1"), f"{name}.conv1"), f"{name}.bn2")
        y = graph.norm(graph.convolve(graph.prelu(y, f"{name}.prelu"), f"{name}.conv2", stride), f"{name}.bn3")
        if f"{name}.downsample.0.weight" in state:
            x = graph.norm(graph.convolve(x, f"{name}.downsample.0", stride), f"{name}.downsample.1")
        x = graph.add("Add", [y, x], name)
    x = graph.add("Flatten", [graph.norm(x, "bn2")], "flat")
    x = graph.add("Gemm", [x, graph.take("fc.weight"), graph.take("fc.bias")], "fc", transB=1)
    return graph.model(graph.norm(x, "features"))


class _Graph:
    """Nodes and weights of an ONNX graph, made of the tensors of a state dict."""

    def __init__(self, state: dict[str, torch.Tensor], path: Path) -> None:
        self._state = {name: value for name, value in state.items() if not name.endswith("num_batches_tracked")}
        self._path, self._nodes, self._weights = path, [], []  # type: ignore[var-annotated]

    def take(self, name: str, shape: tuple[int, ...] | None = None) -> str:
        """Make an initializer of a tensor, once; `BadInput` where there is none."""
        if name not in self._state:
            raise BadInput("no such tensor: not an IResNet of arcface_torch", file=self._path, field=name)
        array: NDArray[np.float32] = self._state.pop(name).float().numpy()
        self._weights.append(numpy_helper.from_array(array if shape is None else array.reshape(shape), name))
        return name

    def add(self, kind: str, inputs: list[str], name: str, **attributes: object) -> str:
        """Add a node; returns the name of its output."""
        node = helper.make_node(kind, inputs, [f"{name}.out"], name=name)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
        self._nodes.append(node)
        return f"{name}.out"

    def convolve(self, x: str, name: str, stride: int = 1) -> str:
        """Add a convolution that pads to keep the size, but for the stride."""
        weight = self.take(f"{name}.weight")
        padding = self._weights[-1].dims[-1] // 2
        return self.add("Conv", [x, weight], name, strides=[stride] * 2, pads=[padding] * 4)

    def norm(self, x: str, name: str) -> str:
        """Add a batch norm as in evaluation."""
        tensors = [self.take(f"{name}.{part}") for part in ("weight", "bias", "running_mean", "running_var")]
        return self.add("BatchNormalization", [x, *tensors], name, epsilon=1e-5)

    def prelu(self, x: str, name: str) -> str:
        """Add a PReLU with a slope a channel."""
        return self.add("PRelu", [x, self.take(f"{name}.weight", (-1, 1, 1))], name)

    def model(self, output: str) -> onnx.ModelProto:
        """Return the model; `BadInput` if a tensor is left over."""
        if self._state:
            problem = "a tensor that no IResNet of arcface_torch has"
            raise BadInput(problem, file=self._path, field=next(iter(self._state)))
        source = helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", 3, SIZE, SIZE])
        made = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", self._weights[-1].dims[0]])
        graph = helper.make_graph(self._nodes, "iresnet", [source], [made], self._weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


CONFIG = "config.json"
# What configurations of DPR's encoders and of BERT have in common.
SHAPE = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "hidden_dropout_prob",
    "attention_probs_dropout_prob", "pad_token_id",
)  # fmt: skip
CHECKPOINTS = {  # of each system, by source in pins.yaml: its folder, and the prefix of its encoder's tensors
    "dpr": {
        "dpr_question": ("question", "question_encoder.bert_model."),
        "dpr_passage": ("passage", "ctx_encoder.bert_model."),
    },
    "reader": {"multi_passage_bert": ("reader", "")},
}


def fetch_checkpoints(system: str, base: Path, out: Path, downloads: Path) -> dict[str, float]:
    """Download, convert and check the checkpoints of a system (dpr, or reader), which use the tokenizer of `base`.

    Returns the number of weights of each.
    """
    checkpoints = CHECKPOINTS[system]
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True, trust_remote_code=False)
    with fetch_into(list(checkpoints), out, downloads) as (temporary, files, pins):
        counts = {
            f"{name}_weights": convert(files[name], prefix, tokenizer, temporary / folder)
            for name, (folder, prefix) in checkpoints.items()
        }
        write_json(temporary / PROVENANCE, pins.summary(checkpoints))
    return counts


def convert(files: Mapping[str, Path], prefix: str, tokenizer: PreTrainedTokenizerBase, folder: Path) -> float:
    """Write a published checkpoint as our own stages write theirs; returns how many weights it has.

    The prefix is that of an encoder's tensors; a reader has none. The tokenizer is BERT's: published folders lack it.
    """
    config = read_json(files[CONFIG])
    if config.get("vocab_size") != len(tokenizer):
        problem, got = "another vocabulary than the text encoder's", config.get("vocab_size")
        raise BadInput(problem, file=files[CONFIG], field="vocab_size", got=got, expected=str(len(tokenizer)))
    if got := config.get("projection_dim", 0):
        expected = "0: [CLS] itself"
        raise BadInput("vectors are projected", file=files[CONFIG], field="projection_dim", got=got, expected=expected)
    shape = BertConfig(**{name: config[name] for name in SHAPE if name in config})
    model = BertModel(shape, add_pooling_layer=False) if prefix else BertForQuestionAnswering(shape)
    path = files.get(WEIGHTS) or files.get(PICKLED)
    if path is None:
        raise BadInput("no weights", file=files[CONFIG].parent, expected=f"{WEIGHTS} or {PICKLED}", choices=files)
    state = read_weights(path) if WEIGHTS in files else read_pickled(path)
    unread = (".pooler.", "position_ids")  # a head that neither system uses, and a constant of older versions
    read = {name: value for name, value in state.items() if not any(part in name for part in unread)}
    weights = {name.removeprefix(prefix): value for name, value in read.items()}
    load_weights(model, weights, path)
    save_text_encoder(folder, model, tokenizer)
    return float(sum(value.numel() for value in model.parameters()))
