"""What is left of a run: shared by the workers, never less than the longest stage, the usual for one that is not kept."""

from trivium.commands import progress
from trivium.commands.progress import Progress


def start(tmp_path, monkeypatch, stages, **kept):
    (tmp_path / "seconds.yaml").write_text(str(kept))
    monkeypatch.setattr(progress, "KEPT", tmp_path / "seconds.yaml")
    return Progress(stages, workers=2)


def test_what_is_left_is_shared_by_the_workers_and_at_least_the_longest_stage(tmp_path, monkeypatch):
    told = start(tmp_path, monkeypatch, ("a", "b", "c"), a=60, b=170, c=130)
    left = "left at the sample's scale"
    assert told.finish("a", 33.2) == f"a: 33 s. 1 of 3, about 3 minutes {left}"  # 300 s by two: 150, less than b's 170
    assert told.finish("b", 1) == f"b: 1 s. 2 of 3, about 3 minutes {left}"
    assert told.finish("c", 1) == f"c: 1 s. 3 of 3, about 0 minutes {left}"


def test_a_stage_that_is_not_kept_takes_as_long_as_usual(tmp_path, monkeypatch):
    assert start(tmp_path, monkeypatch, ("a", "new"), a=10, b=20, c=70).seconds == {"a": 10, "new": 20}
