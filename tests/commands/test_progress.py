"""What is left of a run: from the kept table, from earlier runs, and never less than the longest stage."""

from trivium.commands import progress
from trivium.commands.progress import Progress
from trivium.core.tables import read_json, write_json


def start(tmp_path, monkeypatch, stages, workers=2, **kept):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seconds.yaml").write_text(str(kept))
    monkeypatch.setattr(progress, "KEPT", tmp_path / "seconds.yaml")
    return Progress(stages, workers)


def test_what_is_left_is_shared_by_the_workers_and_at_least_the_longest_stage(tmp_path, monkeypatch):
    told = start(tmp_path, monkeypatch, ("a", "b", "c"), a=60, b=170, c=130)
    assert told.finish("a", 33.2) == "a: 33 s. 1 of 3, about 3 minutes left"  # 300 s by two: 150, less than b's 170
    assert told.finish("c", 1) == "c: 1 s. 2 of 3, about 3 minutes left"
    assert told.finish("b", 1) == "b: 1 s. 3 of 3, about 0 minutes left"


def test_the_last_run_counts_before_the_table_and_what_neither_knows_is_as_usual(tmp_path, monkeypatch):
    write_json(tmp_path / progress.LAST_RUN, {"b": 5.0, "gone": 9.0})
    told = start(tmp_path, monkeypatch, ("a", "b", "new"), a=10, b=20, c=70)
    assert told.seconds == {"a": 10, "b": 5, "new": 20}
    told.finish("a", 11.26)
    assert read_json(tmp_path / progress.LAST_RUN) == {"a": 11.3, "b": 5.0, "gone": 9.0}
