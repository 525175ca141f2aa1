"""Detect faces by MTCNN, and embed the most probable one by ArcFace (kvqae.md §3).

ONNX Runtime runs ArcFace. It is made to raise an error instead of falling back to the CPU, and torch's error when
memory runs out.
"""

import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from facenet_pytorch import MTCNN
from insightface.model_zoo.arcface_onnx import ArcFaceONNX
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.nets.device import halving_batches
from trivium.vision.align import SIZE
from trivium.vision.image_encoder import CPU_BATCH, Embedder

CUDA = "CUDAExecutionProvider"
# Words in the messages of its arena, of CUDA, and of cuBLAS and cuDNN; their exceptions have different classes.
_OUT_OF_MEMORY = ("Failed to allocate memory", "out of memory", "ALLOC_FAILED")


@dataclass(frozen=True)
class Face:
    """One detected face.

    Attributes:
        probability: MTCNN's, in [0, 1].
        box: (4,) left, top, right, bottom, in pixels; may extend beyond the image.
        landmarks: (5, 2) eyes, nose, corners of the mouth as (x, y).
    """

    probability: float
    box: NDArray[np.float32]
    landmarks: NDArray[np.float32]


@dataclass(frozen=True)
class Detection:
    """Faces found in one image.

    Attributes:
        faces: number of faces; None when the image was too small or the detector failed.
        best: the most probable one.
    """

    faces: int | None
    best: Face | None = None


class FaceDetector:
    """MTCNN (Zhang et al., 2016) with facenet-pytorch's weights, on batches of images of equal size.

    Images are not padded to a common size: that moves the samples of the image pyramid, and the most probable face was
    another one, or missing, in 3 to 5 of 26 pictures of COCO, whatever the padding's colour.

    Args:
        min_side: images with a shorter side are not searched.
        min_face: smallest face, in pixels.
        thresholds: probabilities that the three networks require.
        factor: ratio of two steps of the image pyramid.
        device: where the networks run, in full precision, since thresholds decide.
    """

    def __init__(
        self,
        *,
        min_side: int,
        min_face: int,
        thresholds: tuple[float, float, float],
        factor: float,
        device: torch.device,
    ) -> None:
        self._min_side, self._together = min_side, device.type != "cpu"
        self._mtcnn = MTCNN(
            min_face_size=min_face, thresholds=list(thresholds), factor=factor, select_largest=False, device=device
        )

    def __call__(self, images: Sequence[NDArray[np.uint8]]) -> list[Detection]:
        """Search RGB images (height, width, 3); results in the order of the images.

        A GPU searches those of equal size together. A CPU searches one at a time: no face depends on other images.
        """
        detections = [Detection(faces=None)] * len(images)
        by_size = defaultdict(list)
        for index, image in enumerate(images):
            if min(image.shape[:2]) >= self._min_side:
                by_size[image.shape].append(index)
        for indices in by_size.values():
            size = len(indices) if self._together else 1
            batches = halving_batches(indices, size, lambda batch: self._detect([images[i] for i in batch]))
            for index, detection in zip(indices, chain.from_iterable(batches), strict=True):
                detections[index] = detection
        return detections

    def detect_all(self, image: NDArray[np.uint8]) -> list[Face]:
        """Return all faces of an RGB image (height, width, 3), from left to right."""
        if not self([image])[0].faces:  # None: too small, or the detector failed
            return []
        boxes, probabilities, landmarks = self._mtcnn.detect(image, landmarks=True)
        faces = [
            Face(float(probability), np.asarray(box, np.float32), np.asarray(points, np.float32))
            for box, probability, points in zip(boxes, probabilities, landmarks, strict=True)
        ]
        return sorted(faces, key=lambda face: float(face.box[0] + face.box[2]))

    def _detect(self, batch: Sequence[NDArray[np.uint8]]) -> list[Detection]:
        try:
            detected = self._mtcnn.detect(np.stack(batch), landmarks=True)
        except torch.OutOfMemoryError:
            raise
        except (RuntimeError, IndexError):
            # MTCNN fails on candidate boxes outside the image; search the other images of the batch all the same.
            if len(batch) == 1:
                return [Detection(faces=None)]
            return [self._detect([image])[0] for image in batch]
        return [_detection(*of_image) for of_image in zip(*detected, strict=True)]


def _detection(
    boxes: NDArray[np.object_] | None, probabilities: NDArray[np.object_], landmarks: NDArray[np.object_]
) -> Detection:
    if boxes is None:
        return Detection(faces=0)
    box, probability = np.asarray(boxes, np.float32), np.asarray(probabilities, np.float32)
    area = (box[:, 2] - box[:, 0]) * (box[:, 3] - box[:, 1])
    best = np.lexsort((-area, -probability))[0]  # probabilities of clear faces are all rounded to 1
    return Detection(
        faces=len(box),
        best=Face(float(probability[best]), box[best], np.asarray(landmarks[best], np.float32)),
    )


def open_session(model: Path | bytes, device: torch.device) -> onnxruntime.InferenceSession:
    """Load a model, an ONNX file or its bytes, to run on this device.

    Raises:
        BadInput: ONNX Runtime cannot use the GPU; it would otherwise run on the CPU, many times slower.
        Exception: the model cannot be read; ONNX Runtime and protobuf have different exceptions.
    """
    providers = ["CPUExecutionProvider"]
    if device.type == "cuda":
        with redirect_stdout(io.StringIO()):  # what is missing stands in ONNX Runtime's own message, too
            onnxruntime.preload_dlls()  # CUDA's libraries come in packages, most of them with torch
        providers.insert(0, CUDA)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    source = model if isinstance(model, bytes) else str(model)
    session = onnxruntime.InferenceSession(source, options, providers=providers)
    session.disable_fallback()
    if device.type == "cuda" and CUDA not in session.get_providers():
        raise BadInput(
            "ONNX Runtime cannot use the GPU; its own message above says why",
            expected="the libraries that `make setup` installs, and a driver for their CUDA; "
            "with CUDA_VISIBLE_DEVICES= (empty) everything runs on the processor",
        )
    return session


@contextmanager
def torch_memory_errors() -> Iterator[None]:
    """Convert ONNX Runtime's errors of memory to `torch.OutOfMemoryError`, at which batches are halved."""
    try:
        yield
    except Exception as error:
        if any(words in str(error) for words in _OUT_OF_MEMORY):
            raise torch.OutOfMemoryError(str(error)) from error
        raise


class FaceEncoder(Embedder):
    """ArcFace (Deng et al., 2019) in ONNX, run by InsightFace.

    Args:
        path: a model from (n, 3, 112, 112) RGB to (n, dimension).
        device: ONNX Runtime's CUDA provider is used on a GPU.

    Raises:
        BadInput: no ONNX model, or one with another input; ONNX Runtime cannot use the GPU.
    """

    def __init__(self, path: Path, device: torch.device) -> None:
        self.path = path
        try:
            self._model = ArcFaceONNX(str(path), session=open_session(path, device))
        except BadInput:
            raise
        except Exception as error:  # ONNX Runtime, onnx and protobuf have different ones
            raise BadInput(f"not a usable ONNX model: {error}", file=path) from None
        batch, *shape = self._model.input_shape
        if shape != [3, SIZE, SIZE] or (isinstance(batch, int) and batch != 1):
            raise BadInput(
                "wrong input shape",
                file=path,
                field=self._model.input_name,
                got=self._model.input_shape,
                expected=f"(any number or 1, 3, {SIZE}, {SIZE})",
            )
        self._batch = 1 if batch == 1 else CPU_BATCH if device.type == "cpu" else None
        self.dimension = self._model.forward(np.zeros((1, 3, SIZE, SIZE), np.float32)).shape[1]

    def prepare(self, images: Sequence[NDArray[np.uint8]]) -> Sequence[NDArray[np.uint8]]:
        """Return aligned RGB crops (112, 112, 3) unchanged."""
        return images

    def embed(self, prepared: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """Embed crops; returns (n, dimension), each of length 1."""
        if not prepared:
            return np.zeros((0, self.dimension), np.float32)
        embeddings = np.concatenate(list(halving_batches(prepared, self._batch or len(prepared), self._embed)))
        return embeddings / np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-12)

    def _embed(self, crops: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        blanks = [np.zeros_like(crops[0])] * ((self._batch or 0) - len(crops))
        with torch_memory_errors():
            embeddings = self._model.forward(np.stack([*crops, *blanks]).transpose(0, 3, 1, 2).astype(np.float32))
        return embeddings[: len(crops)]
