from types import SimpleNamespace

from tests.conftest import skipped_line


def report(reason):
    return SimpleNamespace(longrepr=("tests/test_a.py", 3, reason))


def test_what_was_skipped_stands_in_one_line_with_the_commonest_reason_first():
    reports = [report("Skipped: needs a GPU"), report("Skipped: no data,\nnowhere"), report("Skipped: needs a GPU")]
    assert skipped_line(reports, "") == "not run: 2 × needs a GPU; 1 × no data, nowhere"


def test_what_markers_leave_out_is_named():
    assert skipped_line([], "not slow") == "not run: what is not 'not slow'"
    assert skipped_line([report("Skipped: why")], "not slow") == "not run: 1 × why; what is not 'not slow'"


def test_nothing_is_said_where_all_was_run():
    assert skipped_line([], "") == ""
