"""The verdict beside a published row."""

import pytest

from trivium.page.published import agreement


@pytest.mark.parametrize(
    ("ours", "printed", "tolerances", "expected"),
    [
        ([0.5, 0.12], [[52.0, 10.0]], [2.0, 2.0], "within 2 points"),
        ([0.5, 0.125], [[52.0, 10.0]], [2.0, 2.0], "off by up to 2.5 points"),
        ([0.5, 0.125], [[52.0, 10.0]], [2.0, 3.0], "within 2 and 3 points"),
        # 2.5 is further off than 1, but within its own tolerance.
        ([0.51, 0.125], [[52.0, 10.0]], [0.5, 3.0], "off by up to 1.0 points"),
        # The paper prints two rows for the same: the nearer one counts.
        ([0.5, 0.2], [[50.0, 10.0], [50.0, 21.0]], [2.0, 2.0], "within 2 points"),
        ([0.5, 0.2], [[50.0, 10.0], [50.0, 23.0]], [2.0, 2.0], "off by up to 3.0 points"),
        ([0.5, None], [[50.0, 10.0]], [2.0, 2.0], None),
    ],
)
def test_every_number_is_held_to_its_tolerance(ours, printed, tolerances, expected):
    assert agreement(ours, printed, tolerances, sample=False) == expected
    assert agreement(ours, printed, tolerances, sample=True) is None
