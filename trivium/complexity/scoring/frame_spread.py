"""How far a model's scores differ by frame, and how far they would by chance (Figure 2, complexity.md §3)."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

FRAME_COLUMNS = ("model", "frame", "questions", "rouge_l", "rouge_l_paper")
PERMUTATIONS = 2000
_ROUNDING = 1e-12  # a permutation that gives every frame its own scores again adds them in another order


def frame_means(values: Mapping[str, NDArray[np.float64]], frames: Sequence[str]) -> list[dict[str, str | float]]:
    """Figure 2's points, worst frame by ROUGE-L first: FRAME_COLUMNS without the model.

    Args:
        values: (questions,) by measure; `rouge_l` and `rouge_l_paper`.
        frames: of each question.
    """
    labels = np.asarray(frames)
    rows: list[dict[str, str | float]] = [
        {
            "frame": frame,
            "questions": int((labels == frame).sum()),
            **{measure: float(each[labels == frame].mean()) for measure, each in values.items()},
        }
        for frame in sorted(set(frames))
    ]
    return sorted(rows, key=lambda row: row["rouge_l"])


def spread(values: NDArray[np.float64], frames: Sequence[str], texts: Sequence[str], *, seed: int) -> dict[str, float]:
    """How far the frames' mean scores lie apart.

    Args:
        values: (questions,) scores.
        frames, texts: of each question.
        seed: of the permutations.

    Returns:
        `frame_range` of the frames' means and, where there are several frames, their standard deviation `frame_sd`
        (n - 1); Kruskal and Wallis' `frame_h` and `frame_p`, absent when all scores are equal; `frame_sd_by_chance`
        and `frame_sd_p` of `spread_by_chance`, absent when nothing can be permuted.
    """
    labels = np.asarray(frames)
    names, number = np.unique(labels, return_inverse=True)
    means = np.bincount(number, weights=values) / np.bincount(number)
    metrics = {"frame_range": float(np.ptp(means))}
    if len(names) == 1:
        return metrics
    metrics["frame_sd"] = float(means.std(ddof=1))
    if np.ptp(values) > 0:
        from scipy.stats import kruskal  # its import takes half a second

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # frames of one question are small samples, as scipy would say
            result = kruskal(*(values[labels == frame] for frame in names))
        metrics |= {"frame_h": float(result.statistic), "frame_p": float(result.pvalue)}
    if (chance := spread_by_chance(values, frames, texts, permutations=PERMUTATIONS, seed=seed)) is not None:
        metrics |= dict(zip(("frame_sd_by_chance", "frame_sd_p"), chance, strict=True))
    return metrics


def spread_by_chance(
    values: NDArray[np.float64], frames: Sequence[str], texts: Sequence[str], *, permutations: int, seed: int
) -> tuple[float, float] | None:
    """Standard deviation (n - 1) of the frames' means if frames did not matter, and the chance of the observed one.

    Scores of one text hang together. So texts with equally many questions exchange all their scores, and a text's
    scores change places within it; frames stay where they are. If neither frames nor places in a text matter, all
    such arrangements are equally likely, however texts differ.

    Args:
        values: (questions,) scores.
        frames, texts: of each question.
        permutations: arrangements drawn, at least 1.
        seed: of the draws.

    Returns:
        (mean of the standard deviations drawn, p): p = (count + 1) / (permutations + 1) of those at least as large as
        the observed one, which is counted in. None where no arrangement could give a frame other scores.
    """
    _, number = np.unique(np.asarray(frames), return_inverse=True)
    _, text = np.unique(np.asarray(texts), return_inverse=True)
    size = np.bincount(text)
    places = np.lexsort((text, size[text]))  # text after text, those of one size together
    blocks = [places[size[text[places]] == each].reshape(-1, each) for each in np.unique(size)]
    if all(len(set(number[block.ravel()])) == 1 for block in blocks):
        return None
    counts = np.bincount(number)

    def deviation(scores: NDArray[np.float64]) -> float:
        return float((np.bincount(number, weights=scores) / counts).std(ddof=1))

    rng = np.random.default_rng(seed)
    drawn = np.empty(permutations)
    moved = np.empty(len(values))
    for draw in range(permutations):
        for block in blocks:
            moved[block] = values[rng.permuted(rng.permutation(block), axis=1)]
        drawn[draw] = deviation(moved)
    reached = int((drawn >= deviation(values) - _ROUNDING).sum())
    return float(drawn.mean()), (reached + 1) / (permutations + 1)
