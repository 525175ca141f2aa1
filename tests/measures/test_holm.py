import gc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from trivium.measures.significance import holm


@pytest.fixture(scope="module", autouse=True)
def _little_to_collect() -> Iterator[None]:
    """`multipletests` collects garbage at each call, of all that the suite holds."""
    gc.freeze()
    yield
    gc.unfreeze()


def test_by_hand() -> None:
    # Sorted .01 .02 .03 .5 times 4 3 2 1 = .04 .06 .06 .5, already non-decreasing.
    assert holm(np.array([[0.5, 0.02], [0.01, 0.03]])) == pytest.approx(np.array([[0.5, 0.06], [0.04, 0.06]]))
    assert holm(np.array([0.7, 0.8])) == pytest.approx([1.0, 1.0])


def test_what_has_no_p_is_no_test() -> None:
    # The second product, .012 · 2, is below the first, .01 · 3: it is raised to it. The last stays at 1.
    assert holm(np.array([0.01, np.nan, 0.012, 1.0])) == pytest.approx([0.03, np.nan, 0.03, 1.0], nan_ok=True)
    assert np.isnan(holm(np.array([np.nan]))).all()
    assert holm(np.array([])).shape == (0,)


@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=50))
def test_as_statsmodels_to_the_bit(p: list[float]) -> None:
    assert (holm(np.array(p)) == multipletests(p, method="holm")[1]).all()


def test_what_is_given_is_not_changed() -> None:
    p = np.array([0.03, 0.01])
    holm(p)
    assert p.tolist() == [0.03, 0.01]
