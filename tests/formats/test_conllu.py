"""CoNLL-U aligned to stored texts: multi-word tokens, spaces, forms, and what is refused."""

import unicodedata
from pathlib import Path

import pytest

from trivium.core.errors import BadInput
from trivium.formats.conllu import Sentence, Token, read_conllu, write_conllu
from trivium.formats.framed_texts import Span, find_token

TEXT = "Le roi du pays perd 10\u00a0000\u202fhommes.\n\nIl était là."
SYNTAX = """\
# newdoc id = t
# text = Le roi du pays perd 10 000 hommes.
1\tLe\tle\tDET\t_\t_\t2\tdet\t_\t_
2\troi\troi\tNOUN\t_\tGender=Masc\t6\tnsubj\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tpays\tpays\tNOUN\t_\t_\t2\tnmod\t_\t_
6\tperd\tperdre\tVERB\t_\t_\t0\troot\t_\t_
7\t10 000\t10000\tNUM\t_\t_\t8\tnummod\t_\t_
7.1\tx\tx\tNOUN\t_\t_\t_\t_\t6:obj\t_
8\thommes\thomme\tNOUN\t_\t_\t6\tobj\t_\tSpaceAfter=No
9\t.\t.\tPUNCT\t_\t_\t6\tpunct\t_\t_

1\tIl\til\tPRON\t_\t_\t3\tnsubj\t_\t_
2\tétait\têtre\tAUX\t_\t_\t3\tcop\t_\t_
3\tlà\tlà\tADV\t_\t_\t0\troot\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_

"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "syntax.conllu"


def forms(sentences: list[Sentence], text: str) -> list[str]:
    return [token.span.of(text) for sentence in sentences for token in sentence.tokens]


def test_tokens_stand_where_the_text_has_them(path: Path):
    path.write_text(SYNTAX, encoding="utf-8")
    read = read_conllu(path, {"t": TEXT})
    first, second = read.sentences["t"]
    surfaces = ["Le", "roi", "du", "du", "pays", "perd", "10\u00a0000", "hommes", "."]
    assert forms([first, second], TEXT) == [*surfaces, "Il", "était", "là", "."]
    assert first.tokens[2] == Token(3, "de", "de", "ADP", 5, "case", Span(7, 9))
    assert first.tokens[3].span == Span(7, 9)
    assert second.span.of(TEXT) == "Il était là."
    assert read.empty_nodes == 1
    assert [token.head for token in first.tokens] == [2, 6, 5, 5, 2, 0, 8, 6, 6]


@pytest.mark.parametrize(("stored", "written"), [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
def test_offsets_survive_forms(path: Path, stored: str, written: str):
    text = unicodedata.normalize(stored, TEXT)
    path.write_text(unicodedata.normalize(written, SYNTAX), encoding="utf-8")
    sentences = read_conllu(path, {"t": text}).sentences["t"]
    found = [token.span.of(text) for token in sentences[1].tokens]
    assert found == [unicodedata.normalize(stored, form) for form in ("Il", "était", "là", ".")]


def test_round_trip(path: Path, tmp_path: Path):
    path.write_text(SYNTAX + SYNTAX.replace("id = t", "id = autre"), encoding="utf-8")
    texts = {"t": TEXT, "autre": "\ufeff " + TEXT + "\u200b \n"}
    sentences = read_conllu(path, texts).sentences
    again = tmp_path / "again.conllu"
    write_conllu(again, sentences, texts)
    assert read_conllu(again, texts).sentences == sentences
    rows = again.read_text(encoding="utf-8").splitlines()
    assert "3-4\tdu\t_\t_\t_\t_\t_\t_\t_\tTokenRange=7:9" in rows
    assert "8\thommes\thomme\tNOUN\t_\t_\t6\tobj\t_\tSpaceAfter=No|TokenRange=27:33" in rows
    assert "4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_" in rows
    assert "# text = Le roi du pays perd 10 000 hommes." in rows


def test_two_equal_words_are_told_apart(path: Path):
    """Found one after the other, not by searching: the second `le` is the second one."""
    text = "le le"
    path.write_text("# newdoc id = t\n1\tle\tle\tDET\t_\t_\t2\tdet\t_\t_\n2\tle\tle\tNOUN\t_\t_\t0\troot\t_\t_\n")
    assert [token.span for token in read_conllu(path, {"t": text}).sentences["t"][0].tokens] == [Span(0, 2), Span(3, 5)]
    assert find_token(text, 2, "le", "3:5") == Span(3, 5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "6\tperd\t",
            "6\tperdit\t",
            r":9: field 'FORM': token 6 does not align.*'perdit' does not stand at 15.*'perd 10",
        ),
        ("det\t_\t_\n2\troi", "det\t_\tTokenRange=1:3\n2\troi", r":3: .*'Le' does not stand at TokenRange 1:3"),
        ("det\t_\t_\n2\troi", "det\t_\tTokenRange=0-2\n2\troi", r":3: .*TokenRange '0-2' is not start:end"),
        ("4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_\n", "", r": text 't' continues after its last token; got '\.'"),
        ("newdoc id = t", "newdoc id = u", r":1: field 'newdoc id': no such text; got 'u'"),
        ("# newdoc id = t\n", "", r":1: sentence of no text"),
        ("9\t.\t.\tPUNCT", "10\t.\t.\tPUNCT", r":13: field 'ID': wrong token number; got 10; expected 9"),
        ("2\troi\troi\tNOUN", "2\troi\troi\tNC", r":4: field 'UPOS': unknown part of speech of 'roi'; got 'NC'.*NOUN"),
        ("\t2\tdet\t_", "\t12\tdet\t_", r":3: field 'HEAD': no such head of token 'Le'; got 12; expected .*0 to 9"),
        ("\t2\tdet\t_", "\t0\tdet\t_", r":3: field 'HEAD': not exactly one root; got \[1, 6\]"),
        ("\t6\tnsubj", "\t5\tnsubj", r":3: field 'HEAD': heads form a cycle from 'Le' on; got \[1, 2, 5\]"),
        ("1\tIl\til\tPRON\t_\t_\t3\tnsubj\t_\t_", "1\tIl", r":15: wrong number of columns; got 2; expected 10"),
        ("1\tIl\til", "un\tIl\til", r":15: not CoNLL-U"),
    ],
)
def test_bad_syntax_is_refused_with_its_line(path: Path, old: str, new: str, message: str):
    assert old in SYNTAX
    path.write_text(SYNTAX.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadInput, match=r"syntax\.conllu" + message):
        read_conllu(path, {"t": TEXT})
