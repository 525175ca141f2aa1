"""`trivium encoder`: every encoder of the pins has a class, and what is fetched is a folder that its class loads."""

from pathlib import Path

import pytest
import torch
import yaml

from tests.kvqae.tiny_bert import write_tiny_sentence_encoder
from tests.kvqae.tiny_encoders import write_tiny
from tests.sources.loopback import Loopback
from trivium.commands import cli
from trivium.commands.encoder import FROZEN, fetch_encoder
from trivium.core.errors import BadInput
from trivium.kvqae.retrieval.text_encoder import TextEncoder
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS
from trivium.nets.cards import licence_of
from trivium.sources.pins import PINS, Pins
from trivium.vision.encoder_registry import ENCODERS

PAGE = Path(__file__).parents[2] / "docs/pins.md"


def test_every_pin_is_of_an_encoder_and_has_a_row_in_the_docs() -> None:
    pinned = Pins(FROZEN).sources
    assert set(pinned) <= {*TEXT_ENCODERS, *ENCODERS}
    assert not set(pinned) & set(Pins(PINS).sources)  # both record in one file
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    for name, source in pinned.items():
        (row,) = [line for line in rows if line.startswith(f"| `{name}` |")]
        assert all(f"`{file}`" in row for file in source.files or ())
        assert source.revision or "no commit is pinned" in row.lower()


@pytest.mark.parametrize("name", ["bge", "dinov2"])
def test_what_is_fetched_is_what_the_class_loads(
    name: str, hub: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in TEXT_ENCODERS:
        write_tiny_sentence_encoder(tmp_path / "tiny")
    else:
        write_tiny(name, tmp_path / "tiny")
    files = {
        path.relative_to(tmp_path / "tiny").as_posix(): path.read_bytes()
        for path in (tmp_path / "tiny").rglob("*")
        if path.is_file()
    }
    hub.repository("who/what", files, commits=("a" * 40,))
    pin = yaml.safe_load(FROZEN.read_text())[name] | {"hub": "who/what", "bytes": 1000}
    (tmp_path / "pins.yaml").write_text(yaml.safe_dump({name: pin}))
    monkeypatch.setattr("trivium.commands.encoder.FROZEN", tmp_path / "pins.yaml")
    out = tmp_path / "out"
    fetched = fetch_encoder(name, out, tmp_path / "downloads")
    assert set(fetched) <= set(files)
    assert "a" * 40 in (out / "provenance.json").read_text()
    assert licence_of(out, without_card="none") == pin["licence"]
    assert not (tmp_path / "downloads" / name).exists()
    if name in TEXT_ENCODERS:
        TextEncoder(name, out, "question", torch.device("cpu"))
    else:
        ENCODERS[name].load(out, torch.device("cpu"))
    with pytest.raises(BadInput, match="out: it is there already"):
        fetch_encoder(name, out, tmp_path / "downloads")


def test_the_command_lists_and_names_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    cli.run("encoder")
    assert "BAAI/bge-base-en-v1.5; mit" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.run("encoder", ["sight"])
    assert "no such source (choices: bge, e5" in capsys.readouterr().err
