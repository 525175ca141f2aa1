"""Messages about bad input: short whatever the value, and about files that the user knows."""

from pathlib import Path

import pytest

from trivium.core.errors import BadInput, naming


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "got", ["x" * 10**6, list(range(10**6)), {str(n): n for n in range(1000)}, nested(5000), 10**400]
)
def test_a_message_never_shows_the_whole_of_a_large_value(got: object):
    assert len(str(BadInput("wrong", file="f", got=got))) < 200


def test_a_short_value_is_shown_as_it_is():
    assert (
        str(BadInput("wrong", file="f", row=3, field="a", got=["x", {"b": None}]))
        == "f:3: field 'a': wrong; got ['x', {'b': None}]"
    )


def test_a_passing_file_is_named_as_the_one_that_the_user_knows():
    with (
        pytest.raises(BadInput, match="^/mine/a.json:3: wrong$"),
        naming(Path("/mine"), instead_of=Path("/out/.x.partial")),
    ):
        raise BadInput("wrong", file=Path("/out/.x.partial/a.json"), row=3)
