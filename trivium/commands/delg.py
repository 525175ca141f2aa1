"""`trivium delg`: write the images that DELG's own tool has yet to describe for RRT, in the form that the tool reads.

RRT re-ranks images by the features that DELG extracts. The command writes the images and a list for each side below
`delg/asked` of your folder of models, and prints the command lines for the tool. You can repeat it: images whose
features are there are not asked for again.
"""

import shlex
from argparse import Namespace
from pathlib import Path

from tqdm import tqdm

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import used_values
from trivium.kvqae.rerankers.local_features import SIDES, read_list
from trivium.vision.decoding import Unreadable, decode_picture
from trivium.vision.local_descriptors.delg_files import (
    IMAGE_FILE,
    can_be_listed,
    shared_names,
    without_features,
    write_dataset,
)

LISTS = Path("data/kvqae/compared_images")
REQUEST = "asked"
AFTER = "Then: `dvc repro -f -s kvqae-rrt kvqae-local_features`, and `make repro` (kvqae.rrt.use must be true)."
CONFIGURATION = "r50delg_gldv2clean_config.pbtxt"  # beside the tool; of the weights that the authors' RRT reads


def ask_for(root: Path, side: str) -> str:
    """Write the images of a side that are compared and lack files of DELG's own tool; returns the lines to print."""
    parameters = root / "params.yaml"
    place = "raw/images/kb" if side == "kb" else f"{used_values(parameters, 'kvqae.dataset')}/images/{side}"
    images = Images(root / "data/kvqae" / place)
    folder = root / str(used_values(parameters, "world.local.kvqae_models")) / "delg"
    compared = set(read_list(root / LISTS / f"{side}.txt"))
    names = [name for name in images.names if name in compared]
    missing = without_features(names, folder / side, shared_names(images.names))
    limits = used_values(parameters, "kvqae.pictures")
    listed = []
    with write_folder(folder / REQUEST / side) as temporary:
        for name in tqdm(missing, desc=f"images, {side}", unit="image", mininterval=5, leave=False):
            data = images.read(name)
            try:  # the tool stops at a picture that cannot be read
                decode_picture(data, **limits)
            except Unreadable:
                continue
            if can_be_listed(name):
                (temporary / f"{name}{IMAGE_FILE}").write_bytes(data)
                listed.append(name)
        if listed:
            write_dataset(temporary / "images.mat", listed)
    lines = [f"{side}: {len(names) - len(missing)} of {len(names)} images are described, {len(listed)} to be described"]
    if left := len(missing) - len(listed):
        lines.append(f"  {left} cannot be read, or have a name that no file can have: RRT does without their features")
    if listed:
        images_folder = (folder / REQUEST / side).resolve()
        words = ["python", "extract_features.py", "--delf_config_path", CONFIGURATION, "--image_set", "index"]
        words += ["--dataset_file_path", str(images_folder / "images.mat"), "--images_dir", str(images_folder)]
        words += ["--output_features_dir", str(folder.resolve() / side)]
        lines.append(f"  {shlex.join(words)}")
    return "\n".join(lines)


def run(_: Namespace) -> None:
    """Write the images of both sides, and print how to run the tool."""
    if not LISTS.is_dir():
        expected = "the lists that `dvc repro kvqae-local_features` makes"
        raise BadInput("which images RRT compares is not known yet", file=LISTS, expected=expected)
    for side in SIDES:
        print(ask_for(Path.cwd(), side))
    print(f"The tool is in delf/python/delg of github.com/tensorflow/models/tree/master/research/delf. {AFTER}")
