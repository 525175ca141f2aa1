"""What rounds come to, counted honestly."""

from tests.kill.campaign import HIT, MISSED, WENT_ON, Outcome
from tests.kill.progress import append_progress, read_progress, summarise


def kill(moment, name, verdict, *faults):
    return {"moment": moment, "signal": name, "victim": "group", "verdict": verdict, "faults": list(faults)}


ROUNDS = [
    Outcome(1, "dvc repro", [kill("lock", "SIGKILL", HIT, "refused: 255", "lost: a", "lost: b")]),
    Outcome(2, "dvc push", [kill("push", "SIGTERM", HIT), kill("push", "SIGTERM", MISSED)]),
    Outcome(
        3, "dvc repro", [kill("lock", "SIGINT", WENT_ON), kill("lock", "SIGKILL", HIT)], 0.5, per_round=6, disk=True
    ),
]


def test_kills_that_missed_do_not_count_and_a_kill_is_faulty_once():
    text = summarise(ROUNDS)
    assert "| lock | 2, **1 faulty** | 0 | 1 | 0 |" in text
    assert "| push | 0 | 1 | 0 | 0 |" in text
    assert "| group | 2, **1 faulty** | 1 | 1 | 0 |" in text
    assert "4 kills in 3 rounds" in text
    assert "1 lost, 0 different, 0 half-written, 1 refused, 0 orphan, 0 hung" in text
    assert "3 hit, 1 were passed over by whom they hit, 1 more came too late" in text
    assert "commands: dvc repro 3, dvc push 1" in text


def test_rounds_are_read_back_but_for_a_cut_line(tmp_path):
    file = tmp_path / "deep" / "progress.jsonl"
    assert read_progress(file) == {}
    append_progress(file, ROUNDS[0], "abc")
    with file.open("a") as lines:
        lines.write('{"seed": 2,')
    append_progress(file, ROUNDS[2], "abc")
    assert read_progress(file) == {1: ROUNDS[0], 3: ROUNDS[2]}
