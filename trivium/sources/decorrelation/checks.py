"""Check a raw folder of decorrelation from any source: what breaks later stages is an error or is counted.

`read_corpus` has checked the annotations. This module checks the images, looks for pictures and scenes that stand in
two splits, and checks the language of captions and the classes that no picture or every picture has.
"""

import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from pathlib import Path

from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.formats.picture_corpora import IMAGES, RENDERED, SPLIT_FILE
from trivium.formats.pictures import SPLITS, Corpus, Picture, Split
from trivium.language.english.sentences import looks_english

USUAL_CAPTIONS = 5
MOST_FOREIGN = 0.5  # share of the captions; phrases, clean-up and word lists know English only
LEAST_JUDGED = 20  # captions; `looks_english` may err on single ones, so that a few say nothing about a set


def validate_decorrelation(folder: Path, corpus: Corpus, pictured: Sequence[Split] = SPLITS) -> dict[str, float]:
    """Check a raw folder against its corpus, as `read_corpus` returns it; only the splits `pictured` must have images.

    Returns counts: `images_in_<one>_and_<other>` of images (by their bytes) of two splits, `scenes_in_…` of sets of two
    or more objects with the same boxes; `classes_without_picture` and `classes_everywhere` refer to training.
    """
    counts: Counter[str] = Counter(corpus.counts)
    for split in SPLITS:
        pictures = [picture for picture in corpus.pictures if picture.split == split]
        if not pictures:
            raise BadInput("no picture in a split", file=folder, field=split, expected="at least one")
        counts[f"pictures_{split}"] = len(pictures)
        counts[f"captions_{split}"] = sum(len(picture.captions) for picture in pictures)
        counts[f"objects_{split}"] = sum(len(picture.objects) for picture in pictures)
    counts["objects_crowd"] = sum(item.crowd for picture in corpus.pictures for item in picture.objects)
    counts["pictures_without_objects"] = sum(not picture.objects for picture in corpus.pictures)
    counts["pictures_with_fewer_captions"] = sum(len(picture.captions) < USUAL_CAPTIONS for picture in corpus.pictures)
    counts["captions_not_english"] = _count_foreign_captions(folder / SPLIT_FILE, corpus)
    _count_classes(corpus, counts)
    _count_leaks("scenes", ((picture.split, _scene(picture)) for picture in corpus.pictures), counts)
    _check_images(folder / IMAGES, [picture for picture in corpus.pictures if picture.split in pictured], counts)
    if (folder / RENDERED).exists():  # by the sample
        counts["rendered"] = len(Images(folder / RENDERED).names)
    return {name: float(counts[name]) for name in sorted(counts)}


def _count_foreign_captions(path: Path, corpus: Corpus) -> int:
    captions = [caption for picture in corpus.pictures for caption in picture.captions]
    foreign = [caption for caption in captions if not looks_english(caption.text)]
    if len(captions) >= LEAST_JUDGED and len(foreign) > MOST_FOREIGN * len(captions):
        problem, row = f"{len(foreign)} of {len(captions)} captions are not English; the first", foreign[0].id
        got, expected = foreign[0].text, "captions in English"
        raise BadInput(problem, file=path, row=f"sentence {row}", field="raw", got=got, expected=expected)
    return len(foreign)


def _count_classes(corpus: Corpus, counts: Counter[str]) -> None:
    training = [set(picture.classes) for picture in corpus.pictures if picture.split == "train"]
    holders = Counter(name for classes in training for name in classes)
    for reason, names in (
        ("classes_without_picture", [name for name in corpus.classes if not holders[name]]),
        ("classes_everywhere", [name for name in corpus.classes if holders[name] == len(training)]),
    ):
        counts[reason] = len(names)
        if names:
            print(f"warning: {reason.replace('_', ' ')} of training: {', '.join(names)}", file=sys.stderr)


def _scene(picture: Picture) -> Hashable:
    """Return the objects of a picture with their boxes, which identify a scene; None for fewer than two objects."""
    objects = frozenset((item.class_name, item.box) for item in picture.objects)
    return objects if len(objects) >= 2 else None


def _count_leaks(what: str, members: Iterable[tuple[str, Hashable]], counts: Counter[str]) -> None:
    splits: dict[Hashable, set[str]] = defaultdict(set)
    for split, member in members:
        if member is not None:
            splits[member].add(split)
    for one, other in combinations(SPLITS, 2):
        counts[f"{what}_in_{one}_and_{other}"] = sum({one, other} <= holders for holders in splits.values())


def _check_images(folder: Path, pictures: Iterable[Picture], counts: Counter[str]) -> None:
    by_name = {picture.name: picture for picture in pictures}
    digests: dict[str, bytes] = {}
    stream = Images(folder).stream()  # refuses a name that stands twice
    for name, data in tqdm(stream, total=len(by_name), desc="checking", unit="image", mininterval=5, leave=False):
        if name not in by_name:
            counts["images_not_in_split_file"] += 1
            continue
        digests[name] = hashlib.sha256(data).digest()
    missing = [name for name in by_name if name not in digests]
    if missing:
        raise BadInput(f"{len(missing)} pictures have no image; the first", file=folder, got=missing[0])
    counts["images_not_in_split_file"] += 0
    counts["images_twice"] = len(digests) - len(set(digests.values()))
    _count_leaks("images", ((picture.split, digests[name]) for name, picture in by_name.items()), counts)
