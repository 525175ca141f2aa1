import pytest

from trivium.core.errors import BadInput
from trivium.kvqae.rerankers.model_files import read_entities, write_entities


def test_what_is_written_is_read(tmp_path):
    write_entities(tmp_path / "lists" / "seen.txt", ["Q12", "Q3"], "made of two")
    assert (tmp_path / "lists" / "seen.txt").read_text() == "# made of two\nQ3\nQ12\n"
    assert read_entities(tmp_path / "lists" / "seen.txt") == {"Q3", "Q12"}
    write_entities(tmp_path / "nobody.txt", [], "nobody")
    assert read_entities(tmp_path / "nobody.txt") == frozenset()


def test_comments_blank_lines_and_repetitions(tmp_path):
    path = tmp_path / "seen.txt"
    path.write_text("# MS-Celeb-1M\r\n\r\n Q42  # Douglas Adams\r\nQ7\r\nQ42\r\n")
    assert read_entities(path) == {"Q42", "Q7"}


@pytest.mark.parametrize("line", ["42", "Q", "Q042", "m.0abc", "Q1,Q2", "http://www.wikidata.org/entity/Q42"])
def test_anything_else_is_refused_with_its_row(tmp_path, line):
    path = tmp_path / "seen.txt"
    path.write_text(f"# list\nQ1\n{line}\n")
    with pytest.raises(BadInput, match=r"seen\.txt:3: not a Wikidata id; got .* expected such as Q42"):
        read_entities(path)


def test_a_binary_file_is_refused(tmp_path):
    (tmp_path / "seen.txt").write_bytes(b"Q1\n\xff\xfe")
    with pytest.raises(BadInput, match=r"seen\.txt:2: not UTF-8.*byte 0"):
        read_entities(tmp_path / "seen.txt")
