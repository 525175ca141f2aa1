"""Shells complete what the commands take."""

import subprocess

import pytest

from trivium.commands import completion
from trivium.commands.cli import COMMANDS


@pytest.fixture(scope="module")
def bash(tmp_path_factory):
    """Complete the last of some words, as bash does."""
    script = tmp_path_factory.mktemp("bash") / "trivium"
    script.write_text(completion.script(COMMANDS, "bash"))

    def complete(*words):
        quoted = " ".join(f"'{word}'" for word in words)
        code = f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _shtab_trivium; echo ${{COMPREPLY[@]}}"
        return subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()

    return complete


def test_commands_options_and_choices_are_completed(bash):
    assert set(bash("trivium", "d")) == {name for name in COMMANDS if name.startswith("d")}
    assert bash("trivium", "kb", "--ou") == ["--out"]
    assert set(bash("trivium", "repro", "")) >= {"kvqae", "decorrelation"}
    assert bash("trivium", "dag", "comp") == ["complexity"]


@pytest.mark.parametrize("shell", completion.SHELLS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_shell_knows_every_command(shell, command):
    assert command in completion.script({command: COMMANDS[command]}, shell)
