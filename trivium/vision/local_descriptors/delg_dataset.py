"""What DELG's own tool reads: a list of images in the format of Revisited Oxford, and a folder of .jpg files (§4).

Its `extract_features.py` looks for `NAME.jpg` in `images_dir` and writes `NAME.delg_global` and `NAME.delg_local`. NAME
is here an image's whole name (`Foo.png`), so that no two images share files. Any format may stand behind `.jpg`: the
tool's reader goes by the content.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy.io import savemat

from trivium.vision.local_descriptors.delg_files import GLOBAL_FILE

IMAGE_FILE = ".jpg"
LONGEST = 255  # bytes of a file's name, on most systems
_TRUTH = ("easy", "hard", "junk", "bbx")  # of a query: which images show the same, and where to crop


def can_be_listed(image: str) -> bool:
    """Whether the names of an image's files are names of files."""
    return "/" not in image and "\0" not in image and len((image + GLOBAL_FILE).encode()) <= LONGEST


def write_dataset(path: Path, images: Sequence[str]) -> None:
    """Write the tool's `dataset_file_path` for `image_set=index`: MATLAB's format, names in the cells of `imlist`.

    It also wants queries with their truth, and two of everything at least: the first two images stand for the queries,
    of which nothing is known, and a single image is listed twice, which the tool passes over.

    Args:
        path: a new `.mat` file.
        images: whole names; one at least.
    """
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
