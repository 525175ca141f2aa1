"""Read features that DELG's own tool has extracted: two files of protocol buffers an image (kvqae.md §4).

`NAME.delg_global` is a DatumProto, `NAME.delg_local` a DelfFeatures; NAME is the image's, with or without its suffix
(the tool leaves it out). Both messages are small and fixed, so their wire format is parsed here: a key is
`field · 8 + type`; type 2 is a length and so many bytes, type 5 is four bytes, type 0 a variable-length integer.

    DatumProto   = { 1: shape { 1: packed int64 }, 2: list { 1: packed float32 } }
    DelfFeatures = { 1: feature { 1: DatumProto, 2: x, 3: y, 4: scale, 5: orientation, 6: strength (float32) } … }

The tool itself reads a list of images in the format of Revisited Oxford, and a folder of .jpg files. Its
`extract_features.py` looks for `NAME.jpg` in `images_dir` and writes `NAME.delg_global` and `NAME.delg_local`. NAME is
here an image's whole name (`Foo.png`), so that no two images share files. A `.jpg` file may have any format: the tool
goes by the content.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.reading import is_file
from trivium.vision.local_descriptors.folder import LOCAL_DIMENSION, SCALES, Description

GLOBAL_FILE, LOCAL_FILE = ".delg_global", ".delg_local"
NO_FILES, SHARED = "no_features", "stem_shared"  # why an image has no features
SMALLEST = 0.5  # the scale that is 0 here: of features from an image enlarged twice


def shared_names(images: Iterable[str]) -> frozenset[str]:
    """Find names of files that could be of two images of a collection: `Foo` of Foo.jpg and Foo.png, and the like."""
    owners = Counter(name for image in images for name in {image, _stem(image)})
    return frozenset(name for name, count in owners.items() if count > 1)


def without_features(images: Iterable[str], folder: Path, shared: frozenset[str]) -> list[str]:
    """List the images without two files of their own in a folder, which need not exist; see `shared_names`."""
    files = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    return [
        image
        for image in images
        if not any(
            name not in shared and {name + GLOBAL_FILE, name + LOCAL_FILE} <= files for name in (image, _stem(image))
        )
    ]


class DelgFiles:
    """Read the features of images by name, at most so many local ones, from a folder with both files of every image.

    The global dimension is g (2 048). `shared` are names from `shared_names`, which are used for neither image.
    """

    def __init__(self, folder: Path, most: int, global_dimension: int, shared: frozenset[str] = frozenset()) -> None:
        self.folder, self.most, self.global_dimension, self.shared = folder, most, global_dimension, shared

    def __call__(self, image: str) -> Description | str:
        """Read the features of an image from the files with its whole name, else from those without its suffix.

        Returns:
            The features; `SHARED` when the only files are of a shared name, `NO_FILES` when there are none.

        Raises:
            BadInput: one of the two files is missing, broken, or of another size.
        """
        reason = NO_FILES
        for name in dict.fromkeys((image, _stem(image))):
            files = [self.folder / f"{name}{ending}" for ending in (GLOBAL_FILE, LOCAL_FILE)]
            existing = [file for file in files if is_file(file)]
            if existing and name in self.shared:
                reason = SHARED
            elif len(existing) == 1:
                raise BadInput("one of an image's two files is missing", file=self.folder, got=existing[0].name,
                               expected=" and ".join(file.name for file in files))  # fmt: skip
            elif existing:
                return self._read(*files)
        return reason

    def _read(self, global_file: Path, local_file: Path) -> Description:
        overall = self._vector(global_file.read_bytes(), global_file, self.global_dimension)
        local, scales, strength = self._features(local_file)
        best = np.argsort(-strength, kind="stable")[: self.most]
        return Description(_unit(overall), _unit(local[best]), scales[best])

    def _features(self, file: Path) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.float32]]:
        """Descriptors, scales in half octaves, and attention of a `.delg_local` file."""
        local: list[NDArray[np.float32]] = []
        scales: list[int] = []
        strength: list[float] = []
        for _, message in _fields(file.read_bytes(), file):
            feature = dict(_fields(bytes(message), file))
            if {1, 4, 6} - feature.keys():
                raise BadInput("a feature without descriptor, scale or strength", file=file, row=len(local) + 1)
            scale = float(np.frombuffer(feature[4], "<f4")[0])
            place = round(2 * np.log2(scale / SMALLEST)) if scale > 0 else -1
            if not 0 <= place < SCALES:
                raise BadInput("scale out of range", file=file, row=len(local) + 1, field="scale", got=scale,
                               expected="0.5 to 4")  # fmt: skip
            local.append(self._vector(bytes(feature[1]), file, LOCAL_DIMENSION))
            scales.append(place)
            strength.append(float(np.frombuffer(feature[6], "<f4")[0]))
        vectors = np.array(local, np.float32).reshape(-1, LOCAL_DIMENSION)
        return vectors, np.array(scales, np.int8), np.array(strength, np.float32)

    def _vector(self, datum: bytes, file: Path, size: int) -> NDArray[np.float32]:
        """The values of a DatumProto."""
        values = dict(_fields(bytes(dict(_fields(datum, file)).get(2, b"")), file)).get(1, b"")
        if len(values) != 4 * size:
            raise BadInput("descriptor of another size", file=file, got=len(values) // 4, expected=str(size))
        return np.frombuffer(values, "<f4").astype(np.float32)


def _stem(image: str) -> str:
    return image.rsplit(".", 1)[0]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32(1e-12))


def _fields(data: bytes, file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (field number, bytes) of a message, in order; integers are skipped."""
    place = 0
    while place < len(data):
        key, place = _integer(data, place, file)
        match key & 7:
            case 0:
                _, place = _integer(data, place, file)
                continue
            case 2:
                size, place = _integer(data, place, file)
            case 5:
                size = 4
            case other:
                raise BadInput("not DELG's file", file=file, row=f"byte {place}", got=f"wire type {other}")
        if place + size > len(data):
            raise BadInput("truncated", file=file, row=f"byte {place}", got=len(data), expected=f"{place + size} bytes")
        yield key >> 3, data[place : place + size]
        place += size


def _integer(data: bytes, place: int, file: Path) -> tuple[int, int]:
    """Parse a variable-length integer at a place; returns its value and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise BadInput("truncated", file=file, row=f"byte {place}", got=len(data))
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise BadInput("not DELG's file", file=file, row=f"byte {place}", got="an integer of more than 64 bits")


IMAGE_FILE = ".jpg"
LONGEST = 255  # bytes of a file's name, on most systems
_TRUTH = ("easy", "hard", "junk", "bbx")  # of a query: which images show the same, and where to crop


def can_be_listed(image: str) -> bool:
    """Whether the names of an image's files are valid file names."""
    return "/" not in image and "\0" not in image and len((image + GLOBAL_FILE).encode()) <= LONGEST


def write_dataset(path: Path, images: Sequence[str]) -> None:
    """Write the tool's `dataset_file_path` for `image_set=index`: MATLAB's format, names in the cells of `imlist`.

    The tool also requires queries with ground truth, and at least two of everything: the first two images serve as
    queries without ground truth, and a single image is listed twice, which the tool ignores. `images` are whole names,
    at least one.
    """
    from scipy.io import savemat

    images = [*images, *images] if len(images) == 1 else images
    truth = np.empty((1, 2), [(name, object) for name in _TRUTH])
    for query in range(2):
        truth[0, query] = tuple(np.zeros((1, 4 if name == "bbx" else 0)) for name in _TRUTH)
    savemat(path, {"imlist": _cells(images), "qimlist": _cells(images[:2]), "gnd": truth})


def _cells(names: Iterable[str]) -> np.ndarray:
    names = list(names)
    cells = np.empty((1, len(names)), object)
    cells[0, :] = names
    return cells
