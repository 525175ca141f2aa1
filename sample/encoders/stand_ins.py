"""Train KVQAE's stand-ins for frozen encoders and write them in the formats of the real ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import open_clip
import torch
from torch import nn
from torchvision import models

from sample.encoders.encoder_training import Log, crop_randomly, fit, standardise, write_clip
from sample.encoders.settings import ArcFaceStandIn, BaseModelsParameters, ImageNetStandIn
from sample.encoders.training_pictures import Pictures, draw_faces, draw_things, scale_things
from sample.kvqae.entities import Entity
from sample.kvqae.entity_world import choose_known
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.core.tables import write_json
from trivium.kvqae.rerankers.model_files import IDENTITIES, write_entities
from trivium.nets.weights import WEIGHTS, save_weights
from trivium.sources.plain_weights import save_text
from trivium.vision.align import SIZE
from trivium.vision.whole_images import DEVIATION, MEAN

# Image towers are trained on random crops of pictures that are larger than their input by this factor.
_MARGIN = 8 / 7
_RESNET = "resnet18"
_TEXT_TOWER = {"context_length": 32, "vocab_size": 49408, "layers": 2}
_CENTRE = (0.5, 0.5, 0.5)  # InsightFace standardises to (x - 127.5) / 127.5
_SCALE, _ANGLE = 24.0, 0.15  # s and m of ArcFace's loss, m in radians


def make_stand_ins(
    parameters: BaseModelsParameters, context: Context, out: Path, persons: Sequence[Entity]
) -> dict[str, float]:
    """Train and write the sample's stand-ins and ArcFace's overlap list: ArcFace is trained on a share of `persons`.

    Returns:
        The final loss of each training, the text encoder's layers, and the number of persons ArcFace was trained on.

    Raises:
        BadInput: ArcFace's training has fewer identities than that share has persons.
    """
    arcface, clip, imagenet = parameters.arcface, parameters.clip, parameters.imagenet
    training: dict[str, Any] = {"seed": parameters.seed, "log": context.tracker.log}
    known = choose_known(persons, arcface.overlap, parameters.seed)
    if len(known) > arcface.identities:
        raise BadInput(
            f"{len(known)} of {len(persons)} persons do not fit among {arcface.identities} identities",
            field="kvqae.base_models.arcface.overlap",
            got=arcface.overlap,
            expected="a smaller share or more identities",
        )
    photographs: dict[str, Any] = {"size": parameters.picture_size, "difficulty": parameters.difficulty}
    faces = draw_faces(
        context.engine, identities=arcface.identities, views=arcface.views, known=list(known.values()), **photographs
    )
    things = draw_things(
        context.engine, identities=max(clip.identities, imagenet.identities), views=max(clip.views, imagenet.views),
        **photographs,
    )  # fmt: skip
    seen_by_clip, seen_by_imagenet = (
        scale_things(things, round(own.size * _MARGIN), identities=own.identities, views=own.views)
        for own in (clip, imagenet)
    )
    captions = open_clip.SimpleTokenizer(context_length=_TEXT_TOWER["context_length"])(seen_by_clip.captions)
    with write_atomically(out) as target:
        for name in ("arcface", "clip", "imagenet"):
            (target / name).mkdir(parents=True)
        write_entities(target / IDENTITIES, known, "persons of the knowledge base whom ArcFace was trained on")
        return {
            "arcface_loss": _write_arcface(faces, target / "arcface", arcface, **training),
            "clip_loss": write_clip(
                seen_by_clip.pixels, captions[:, None], target / "clip", clip, size=clip.size, text=_TEXT_TOWER,
                **training,
            ),
            "imagenet_loss": _write_imagenet(seen_by_imagenet, target / "imagenet", imagenet, **training),
            "arcface_known_persons": float(len(known)),
            "text_layers": save_text(target / "text", layers=parameters.text.layers),
        }  # fmt: skip


class FaceNetwork(nn.Sequential):
    """Map (n, 3, 112, 112) to (n, dimension): convolutions at 28, 14, 7 pixels, then a weight per place and channel."""

    def __init__(self, dimension: int, width: int) -> None:
        layers: list[nn.Module] = [nn.AvgPool2d(2)]
        for narrow, wide, kernel, stride in (
            (3, width, 5, 2),
            (width, 2 * width, 3, 2),
            (2 * width, 2 * width, 3, 1),
            (2 * width, 4 * width, 3, 2),
            (4 * width, 4 * width, 3, 1),
        ):
            layers.append(nn.Conv2d(narrow, wide, kernel, stride, kernel // 2, bias=False))
            layers += [nn.BatchNorm2d(wide), nn.PReLU(wide)]
        layers += [nn.Conv2d(wide, wide, 7, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.Flatten()]
        layers += [nn.Linear(wide, dimension, bias=False), nn.BatchNorm1d(dimension)]
        super().__init__(*layers)


class AngularMargin(nn.Module):
    """ArcFace's loss: −log softmax of s·cos(θ_y + m) against s·cos θ_j (Deng et al., CVPR 2019, equation 3).

    `scale` is s, `margin` m in radians.
    """

    def __init__(self, dimension: int, classes: int, scale: float, margin: float) -> None:
        super().__init__()
        self.centres = nn.Parameter(torch.randn(classes, dimension) / dimension**0.5)
        self.scale, self.margin = scale, margin

    def forward(self, embeddings: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Compute the mean loss of embeddings (n, dimension) with labels (n,): a scalar."""
        cosines = nn.functional.normalize(embeddings) @ nn.functional.normalize(self.centres).T
        angles = torch.acos(cosines.clamp(-1 + 1e-6, 1 - 1e-6))
        own = nn.functional.one_hot(labels, cosines.shape[1]).bool()
        logits = torch.where(own, torch.cos(angles + self.margin), cosines)
        return nn.functional.cross_entropy(self.scale * logits, labels)


def _write_arcface(faces: Pictures, folder: Path, own: ArcFaceStandIn, *, seed: int, log: Log) -> float:
    """Train on aligned crops, half of them mirrored; write ONNX in the format of InsightFace's model zoo.

    The model has one input (n, 3, 112, 112) and one output (n, dimension). Returns `fit`'s loss.
    """
    torch.manual_seed(seed)
    network = FaceNetwork(own.dimension, own.width)
    criterion = AngularMargin(own.dimension, int(faces.entities.max()) + 1, _SCALE, _ANGLE)
    labels = torch.from_numpy(faces.entities)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        pixels = faces.pixels[chosen.numpy()]
        mirrored = (torch.rand(len(pixels)) < 0.5).numpy()
        pixels[mirrored] = pixels[mirrored, :, ::-1]
        return criterion(network(standardise(pixels, _CENTRE, _CENTRE)), labels[chosen])

    both = nn.ModuleList([network, criterion])
    loss = fit(both, loss_of, examples=len(labels), own=own, seed=seed, log=log, name="arcface")
    torch.onnx.export(
        network.eval(), (torch.zeros(1, 3, SIZE, SIZE),), str(folder / "model.onnx"), dynamo=False,
        input_names=["input"], output_names=["embedding"], dynamic_axes={"input": {0: "n"}, "embedding": {0: "n"}},
    )  # fmt: skip
    return loss


def _write_imagenet(things: Pictures, folder: Path, own: ImageNetStandIn, *, seed: int, log: Log) -> float:
    """Train a classifier of things by kind and sort; write `config.json` and `model.safetensors`; returns `fit`'s loss.

    Pictures are a little larger than the network's input; each batch is cropped at random.
    """
    torch.manual_seed(seed)
    names = sorted(set(things.classes))
    labels = torch.tensor([names.index(name) for name in things.classes])
    network = models.get_model(_RESNET, weights=None, num_classes=len(names))
    windows = torch.Generator().manual_seed(seed)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        images = crop_randomly(standardise(things.pixels[chosen.numpy()], MEAN, DEVIATION), own.size, windows)
        return nn.functional.cross_entropy(network(images), labels[chosen])

    loss = fit(network, loss_of, examples=len(labels), own=own, seed=seed, log=log, name="imagenet")
    write_json(folder / "config.json", {"architecture": _RESNET, "size": own.size})
    save_weights(network, folder / WEIGHTS)
    return loss
