"""What is fetched of the hub: a folder where there is one, and safetensors wherever the hub has them."""

from types import SimpleNamespace

import pytest

from trivium.decorrelation.benchmark.family import model_folder


class Hub:
    """Revisions of one repository, and what was asked for."""

    def __init__(self, folder, revisions, proposals=()):
        self._folder, self._revisions, self._proposals = folder, revisions, proposals
        self.asked = []

    def snapshot_download(self, name, *, allow_patterns, repo_type, revision="main"):
        assert not any(pattern.endswith((".bin", ".py", "*")) for pattern in allow_patterns)
        self.asked.append((name, revision))
        made = self._folder / revision
        made.mkdir(parents=True)
        for file in self._revisions[revision]:
            (made / file).touch()
        return str(made)

    def get_repo_discussions(self, name, **_):
        return iter(self._proposals)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    def with_files(revisions, proposals=()):
        made = Hub(tmp_path, revisions, proposals)
        monkeypatch.setattr("huggingface_hub.snapshot_download", made.snapshot_download)
        monkeypatch.setattr("huggingface_hub.HfApi", lambda: made)
        return made

    return with_files


def test_safetensors_of_the_main_revision_are_enough(hub):
    made = hub({"main": ["config.json", "model.safetensors"]})
    assert model_folder("owner/name").name == "main"
    assert made.asked == [("owner/name", "main")]


def test_those_that_the_hubs_robot_proposed_are_taken_and_nobody_elses(hub):
    proposals = [SimpleNamespace(author="somebody", num=3), SimpleNamespace(author="SFconvertbot", num=21)]
    made = hub({"main": ["config.json"], "refs/pr/21": ["config.json", "model.safetensors"]}, proposals)
    assert (model_folder("owner/name") / "model.safetensors").exists()
    assert made.asked == [("owner/name", "main"), ("owner/name", "refs/pr/21")]


def test_a_model_without_any_is_left_to_its_family_to_refuse(hub):
    made = hub({"main": ["config.json"]}, [SimpleNamespace(author="somebody", num=3)])
    assert model_folder("owner/name").name == "main"
    assert made.asked == [("owner/name", "main")]


def test_a_name_without_an_owner_gets_that_of_its_library(hub):
    made = hub({"main": ["model.safetensors"]})
    model_folder("clip-ViT-B-32", "sentence-transformers")
    assert made.asked == [("sentence-transformers/clip-ViT-B-32", "main")]
