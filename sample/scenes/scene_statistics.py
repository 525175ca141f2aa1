"""Figures about a data set of scenes: sizes, and how often kinds stand together."""

from collections.abc import Sequence

from sample.scenes.catalogue import Cast
from sample.scenes.formats import Shot
from sample.scenes.wording import Mention, plain


def statistics(shots: Sequence[Shot], cast: Cast) -> dict[str, float]:
    """Flat metrics.

    Returns:
        Counts; `co_occurrence_planted`, the mean over planted pairs of P(both sides | one side), and
        `co_occurrence_free`, the mean over all other pairs of kinds; `mentioned_share`, of kinds in a picture that its
        captions name; `words_mean` and `vocabulary` of the captions.
    """
    scenes = [set(shot.scene.kinds) for shot in shots]
    planted = [_together(scenes, set(first), set(second)) for first, second in cast.pairs]
    sides = {(a, b) for first, second in cast.pairs for a in first for b in second}
    names = cast.kinds
    free = [
        _together(scenes, {a}, {b})
        for index, a in enumerate(names)
        for b in names[index + 1 :]
        if (a, b) not in sides and (b, a) not in sides
    ]
    words = [plain(caption).lower().replace(",", "").rstrip(".").split() for shot in shots for caption in shot.captions]
    named = sum(
        isinstance(part, Mention) and part.kind is not None for s in shots for text in s.captions for part in text
    )
    return {
        **{
            split: float(sum(shot.split == split for shot in shots))
            for split in ("train", "restval", "validation", "test")
        },
        "objects": float(sum(len(shot.scene.things) for shot in shots)),
        "kinds": float(len(names)),
        "co_occurrence_planted": sum(planted) / len(planted),
        "co_occurrence_free": sum(free) / len(free),
        "mentioned_share": named / sum(len(shot.scene.kinds) * len(shot.captions) for shot in shots),
        "words_mean": sum(map(len, words)) / len(words),
        "vocabulary": float(len({word for text in words for word in text})),
    }


def _together(scenes: Sequence[set[str]], first: set[str], second: set[str]) -> float:
    """P(both sides | at least one side)."""
    either = [scene for scene in scenes if scene & (first | second)]
    return sum(bool(scene & first and scene & second) for scene in either) / max(1, len(either))
