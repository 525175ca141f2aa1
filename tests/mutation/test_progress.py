"""What trials come to, counted honestly."""

from tests.mutation.mutants import Mutant
from tests.mutation.progress import Tried, append_progress, edit, read_progress, summarise
from tests.mutation.trial import KILLED, SURVIVED, TIMEOUT, UNTESTED


def tried(room, line, verdict, after="x = 2"):
    return Tried(
        Mutant(f"trivium/{room}/m.py", "0", "NumberReplacer", line, line),
        verdict,
        "",
        "t",
        False,
        ("x = 1", after),
        1.0,
    )


def test_rooms_are_counted_and_survivors_listed():
    text = summarise(
        [
            tried("harness", 5, UNTESTED),
            tried("formats", 2, SURVIVED),
            tried("formats", 3, TIMEOUT),
            tried("formats", 1, KILLED),
        ]
    )
    assert "| formats | 3 | 1 | 1 | 1 | 66.7% |" in text
    assert "| harness | 1 | 0 | 0 | 1 | 0.0% |" in text
    assert "| all | 4 | 1 | 1 | 2 | 50.0% |" in text
    assert text.splitlines()[-2:] == [
        "trivium/formats/m.py:2: x = 1  ->  x = 2",
        "trivium/harness/m.py:5: x = 1  ->  x = 2",
    ]


def test_the_last_trial_counts_and_a_cut_line_is_none(tmp_path):
    file = tmp_path / "deep" / "progress.jsonl"
    assert read_progress(file) == {}
    append_progress(file, tried("formats", 1, SURVIVED))
    with file.open("a") as lines:
        lines.write('{"mutant": ')
    append_progress(file, tried("formats", 1, KILLED))
    assert list(read_progress(file).values()) == [tried("formats", 1, KILLED)]


def test_an_edit_is_the_lines_that_differ():
    assert edit("a\nb\nc\n", "a\nB\nc\n") == ("b", "B")
    assert edit("a\n  @b\n  c\n", "a\n  c\n") == ("@b", "")
    assert edit("for a in (\n  b,\n):\n  c\n", "for a in []:\n  c\n") == ("for a in ( b, ):", "for a in []:")
