"""What a contributor's tools run is what `make check` runs, and the files that they read are well formed."""

import json
import re
from pathlib import Path

import yaml

HOOKS = Path(".pre-commit-config.yaml")


def test_hooks_before_a_commit_are_make_check() -> None:
    (recipe,) = re.findall(r"^check: .*\n\t@(.*)$", Path("Makefile").read_text("utf-8"), re.MULTILINE)
    (repo,) = yaml.safe_load(HOOKS.read_text("utf-8"))["repos"]
    assert repo["repo"] == "local"
    assert [hook["entry"].removeprefix(".venv/bin/") for hook in repo["hooks"]] == recipe.split(" && ")


def test_forms_and_the_container_are_well_formed() -> None:
    for form in Path(".github/ISSUE_TEMPLATE").glob("*.yml"):
        tree = yaml.safe_load(form.read_text("utf-8"))
        assert {"name", "description", "body"} == set(tree)
        assert len({part["id"] for part in tree["body"]}) == len(tree["body"]) > 1
        for part in tree["body"]:
            assert part["attributes"]["label"]
    container = json.loads(Path(".devcontainer/devcontainer.json").read_text("utf-8"))
    assert container["postCreateCommand"] == "make setup"
