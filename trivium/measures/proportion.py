"""Interval of a proportion."""

import math


def wilson_interval(share: float, trials: int) -> tuple[float, float]:
    """Wilson's score interval (1927) at 95 %: (p̂ + z²/2n ± z √(p̂(1 - p̂)/n + z²/4n²)) / (1 + z²/n).

    Args:
        share: p̂ in [0, 1]; with cells that depend on one another, their mean share.
        trials: n, how many independent trials it rests on.

    Raises:
        ValueError: out of range.
    """
    from scipy.special import ndtri  # its import takes a fifth of a second

    if not 0 <= share <= 1 or trials < 1:
        raise ValueError(f"share {share} or trials {trials} out of range")
    z = float(ndtri(0.975))
    middle = share + z * z / (2 * trials)
    reach = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # At 0 and 1 the bound is the share itself, up to rounding.
    return max(0.0, min(share, (middle - reach) / scale)), min(1.0, max(share, (middle + reach) / scale))
