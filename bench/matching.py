"""Caption-class matching against a plain loop of regular expressions: `python -m bench.matching`.

COCO's 616 435 captions are stood in for by captions that the sample's grammar makes, cycled. Both sides start from the
texts: ours finds noun phrases by rule and matches them by the stage's own worker, in two processes and alone; the peer
searches each caption for every class with one compiled alternation of its listed words a class.
"""

import re
from collections.abc import Sequence
from functools import partial

from bench import harness
from sample.render.canvas import Dice
from sample.scenes.catalogue import COCO
from sample.scenes.scene import make_scene
from sample.scenes.wording import describe, plain
from trivium.decorrelation.captions.phrases import Row, Settings, read_shard
from trivium.formats.pictures import Caption
from trivium.harness.engine import LocalEngine
from trivium.harness.parameters import read_parameters
from trivium.language.english.word_lists import WORDS, word_lists

CAPTIONS, DISTINCT, PEER, SHARD = 616_435, 5_000, 20_000, 8192


def captions(number: int) -> list[str]:
    """Invented captions, `DISTINCT` of them over and over."""
    distinct = []
    for index in range(DISTINCT // 5):
        scene = make_scene(f"bench {index}", COCO, size=48, co_occurrence=0.5, colour=0.9)
        distinct += [plain(describe(scene, Dice(f"bench {index} {each}"), 0.95)) for each in range(5)]
    return [distinct[index % len(distinct)] for index in range(number)]


def patterns(classes: Sequence[str]) -> dict[str, re.Pattern[str]]:
    """One regular expression a class: any of its expressions, as whole words."""
    lists = word_lists(classes)
    found: dict[str, list[str]] = {name: [] for name in classes}
    for expression, names in lists.strict.items():
        for name in names:
            found[name].append(" ".join(expression))
    return {name: _any_of(expressions) for name, expressions in found.items()}


def _any_of(expressions: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(expressions, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)


def ours(texts: Sequence[str], settings: Settings, workers: int) -> int:
    """The stage's worker over shards; how many classes are named."""
    shards = (
        [Row(Caption(start + place, text), 0, "train", ()) for place, text in enumerate(texts[start : start + SHARD])]
        for start in range(0, len(texts), SHARD)
    )
    named = 0
    for batch, _ in LocalEngine(workers).map(partial(read_shard, settings), shards, description="captions"):
        named += sum(map(len, batch["classes"].to_pylist()))
    return named


def peer(texts: Sequence[str], classes: Sequence[str]) -> int:
    """The plain loop; how many classes are named (it finds the dog in a hot dog, too)."""
    compiled = patterns(classes)
    return sum(bool(pattern.search(text)) for text in texts for pattern in compiled.values())


def ours_alone(number: int, settings: Settings) -> None:
    """What our memory is measured on."""
    ours(captions(number), settings, 1)


def main() -> None:
    """Time ours on all captions with two processes, and alone beside the peer on the first of them."""
    classes = tuple(read_parameters(WORDS)["classes"])
    settings = Settings(classes, "strict", "rules", "none")
    texts = captions(CAPTIONS)
    few = texts[:PEER]
    ours(texts[:SHARD], settings, 1)
    named, named_by_peer = ours(few, settings, 1), peer(few, classes)
    seconds = harness.once(partial(ours, texts, settings, 2))
    alone = harness.once(partial(ours, few, settings, 1))
    theirs = harness.once(partial(peer, few, classes))
    harness.write(
        "matching",
        {
            "captions": CAPTIONS,
            "classes": len(classes),
            "captions_a_second": CAPTIONS / seconds,
            "captions_a_second_alone": len(few) / alone,
            "captions_a_second_of_regular_expressions": len(few) / theirs,
            "ratio_alone": theirs / alone,
            "peak_mib": harness.peak_memory(ours_alone, PEER, settings),
            "peak_mib_ten_times_the_captions": harness.peak_memory(ours_alone, 10 * PEER, settings),
            "classes_named_a_caption": named / len(few),
            "classes_named_a_caption_by_regular_expressions": named_by_peer / len(few),
        },
    )


if __name__ == "__main__":
    main()
