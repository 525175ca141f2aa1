"""Whether numbers measured on the papers' data agree with the published ones."""

from collections.abc import Sequence


def agreement(
    ours: Sequence[float | None], printed: Sequence[Sequence[float]], tolerances: Sequence[float], *, sample: bool
) -> str | None:
    """`within 2 points`, or `off by up to 3.1 points` (the largest difference among those beyond their tolerance).

    Args:
        ours: measured, in points; None where it was not.
        printed: the published row, and others that the paper prints for the same; any of them is accepted.
        tolerances: of each number, in points.
        sample: ours are of a sample world, whose numbers are others: no verdict.

    Returns:
        None, too, where a number was not measured.
    """
    measured = [value for value in ours if value is not None]
    if sample or len(measured) < len(ours):
        return None
    differences = [[abs(a - b) for a, b in zip(measured, row, strict=True)] for row in printed]
    beyond = [[off for off, most in zip(row, tolerances, strict=True) if off > most] for row in differences]
    if [] in beyond:
        return f"within {' and '.join(dict.fromkeys(f'{each:g}' for each in tolerances))} points"
    return f"off by up to {min(map(max, beyond)):.1f} points"
