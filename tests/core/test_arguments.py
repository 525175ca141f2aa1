"""A stage's command line: what `main` takes becomes options, and what it reads is told from what it writes."""

from collections.abc import Sequence
from pathlib import Path

from trivium.core.arguments import inputs_of, is_output, parser_of


def main(
    parameters: object,
    *,
    in_file: Path,
    several: Sequence[Path],
    scale: float = 0.5,
    words: list[str] | None = None,
    out: Path | None = None,
) -> None:
    """What it is for."""


def parse(*argv: str) -> dict[str, object]:
    return vars(parser_of(main, "a.b").parse_args(argv))


def test_options_have_types_defaults_and_several_values() -> None:
    required = ("--in-file", "x", "--several", "y", "z")
    told = {"in_file": Path("x"), "several": [Path("y"), Path("z")], "section": "a.b"}
    unsaid = {"scale": 0.5, "words": None, "out": None, "params": Path("params.yaml"), "metrics": None, "curves": None}
    assert parse(*required) == told | unsaid
    assert parse(*required, "--words", "a", "b", "--scale", "2")["words"] == ["a", "b"]
    assert parse(*required, "--scale", "2", "--metrics", "m.json")["metrics"] == Path("m.json")


def test_inputs_are_paths_that_are_neither_written_nor_the_parameter_file() -> None:
    read = {"in_file": Path("a"), "several": [Path("b"), Path("c")], "text": "d", "nothing": None}
    written = {"out": Path("o"), "out_model": Path("p"), "metrics": Path("m"), "params": Path("params.yaml")}
    assert inputs_of(read | written) == [Path("a"), Path("b"), Path("c")]
    assert [is_output(name) for name in ("metrics", "out", "out_x", "lay_out", "metric")] == [True] * 3 + [False] * 2
