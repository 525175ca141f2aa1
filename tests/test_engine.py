import pytest

from stages.engine import LocalEngine


def square(number: int) -> int:
    if number == 99:
        raise ValueError("shard 99 is broken")
    return number * number


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_whatever_the_workers(workers):
    assert list(LocalEngine(workers).map(square, range(11), description="squares")) == [n * n for n in range(11)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_broken_shard_is_not_swallowed(workers):
    with pytest.raises(ValueError, match="shard 99"):
        list(LocalEngine(workers).map(square, [1, 99], description="squares"))
