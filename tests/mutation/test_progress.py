"""What trials come to, counted honestly."""

from tests.mutation.mutants import Mutant
from tests.mutation.progress import Tried, append_progress, edit, read_progress, summarise, tidy_progress
from tests.mutation.trial import KILLED, SURVIVED, TIMEOUT, UNTESTED


def tried(room, line, verdict, after="x = 2"):
    mutant = Mutant(f"trivium/{room}/m.py", "0", "NumberReplacer", line, line)
    return Tried(mutant, verdict, "", "t", False, ("x = 1", after))


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
        "trivium/core/m.py:5: x = 1  ->  x = 2",
    ]


def test_the_last_trial_counts_and_a_cut_line_is_none(tmp_path):
    file = tmp_path / "deep" / "progress.jsonl"
    assert read_progress(file) == {}
    append_progress(file, tried("formats", 1, SURVIVED))
    with file.open("a") as lines:
        lines.write('[["trivium/')
    append_progress(file, tried("formats", 1, KILLED))
    assert list(read_progress(file).values()) == [tried("formats", 1, KILLED)]


def test_a_tidy_file_has_each_trial_once_by_place(tmp_path):
    file = tmp_path / "progress.jsonl"
    for line, verdict in ((3, SURVIVED), (2, KILLED), (3, TIMEOUT), (2, KILLED)):
        append_progress(file, tried("formats", line, verdict))
    tidy_progress(file, read_progress(file).values())
    assert file.read_text().splitlines() == [
        '[["trivium/formats/m.py","0","NumberReplacer",2,2],"killed","","t",false,["x = 1","x = 2"]]',
        '[["trivium/formats/m.py","0","NumberReplacer",3,3],"timeout","","t",false,["x = 1","x = 2"]]',
    ]
    assert list(read_progress(file).values()) == [tried("formats", 2, KILLED), tried("formats", 3, TIMEOUT)]
    assert list(tmp_path.iterdir()) == [file]


def test_an_edit_is_the_lines_that_differ():
    assert edit("a\nb\nc\n", "a\nB\nc\n") == ("b", "B")
    assert edit("a\n  @b\n  c\n", "a\n  c\n") == ("@b", "")
    assert edit("for a in (\n  b,\n):\n  c\n", "for a in []:\n  c\n") == ("for a in ( b, ):", "for a in []:")
