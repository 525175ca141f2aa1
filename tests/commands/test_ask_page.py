"""The token: where it comes from, and that nobody else gets it."""

import os

import pytest

from trivium.commands.ask_page import TOKEN, main, take_token
from trivium.core.errors import BadInput


def test_this_machine_needs_no_token(monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)
    assert take_token("127.0.0.1") is take_token("::1") is take_token("localhost") is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "photos.example"])
def test_other_machines_need_one(monkeypatch, host):
    monkeypatch.delenv(TOKEN, raising=False)
    with pytest.raises(
        BadInput,
        match=f"other machines could reach the page, and there is no token; got .*at least 16 characters.*{TOKEN}",
    ):
        take_token(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_a_token_is_taken_out_of_the_environment(monkeypatch, host):
    monkeypatch.setenv(TOKEN, "correct horse battery")
    assert take_token(host) == "correct horse battery"
    assert TOKEN not in os.environ


def test_a_short_token_is_refused_and_not_repeated(monkeypatch, capsys):
    monkeypatch.setenv(TOKEN, "hunter2")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # put back afterwards
    monkeypatch.setattr("signal.signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        main(["--host", "0.0.0.0"])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "the token is too short" in said
    assert "hunter2" not in said


def test_other_machines_are_warned_of(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv(TOKEN, "correct horse battery")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.chdir(tmp_path)  # no project
    with pytest.raises(SystemExit):
        main(["--host", "0.0.0.0", "--port", "0"])
    said = capsys.readouterr().err
    assert said.startswith("ask: warning: other machines reach 0.0.0.0, and nothing is encrypted\n")
    assert "correct horse battery" not in said
