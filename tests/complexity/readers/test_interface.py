"""The interface of trained readers: kinds by name, settings beside the weights."""

import pytest

from tests.complexity.tiny_readers import settings
from trivium.complexity.readers import interface as reader
from trivium.complexity.readers.interface import read_settings, write_settings
from trivium.core.errors import BadInput


def test_settings_come_back_as_they_were(tmp_path):
    own = settings(frozen_layers=1, max_steps=7)
    write_settings(tmp_path, own)
    assert read_settings(tmp_path) == own


def test_a_folder_without_a_reader(tmp_path):
    with pytest.raises(BadInput, match=r"reader\.json: no settings of a reader"):
        reader.load_reader(tmp_path)
    (tmp_path / "reader.json").write_text('{"kind": "oracle"}')
    with pytest.raises(BadInput, match=r"reader\.json: not a reader's settings"):
        reader.load_reader(tmp_path)


@pytest.mark.parametrize("changes", [{"stride": 40}, {"learning_rate": 0}, {"kind": "seq2seq"}, {"colour": "red"}])
def test_settings_are_checked(changes):
    with pytest.raises(ValueError, match="validation error"):
        settings(**changes)
