"""The French FrameNet's tables, written here as its description has them: what is read, counted and refused."""

from pathlib import Path

import pytest

from trivium.formats.frame_corpora import read_texts, write_texts
from trivium.formats.framenet_conll import read_framenet_conll

# (form, lemma, coarse tag, features); frame 2 has a trigger and a filler in two parts, frame 3 one of several words.
ROWS = [
    ("Hier", "hier", "ADV", "sentid=essai-1|sentrk=7|s=c"),
    ("le", "le", "D", "role=1.2#Speaker#flags=FULLANTECEDENT|s=def|role=2.1#Agent|s=sg"),
    ("roi", "roi", "N", "role=1.2#Speaker#synthead=y,2.1#Agent"),
    ("dit", "dire", "V", "frame=1#FR_Statement-manner-noise#flags=REFTOPARTICIPANT#Topic=ENI#Addressee=UNI|n=s|p=3"),
    ("qu'", "que", "C", "_"),
    ("il", "il", "CL", "role=1.1#Speaker#flags=ANAPH,1.3#Message,2.2#Agent"),
    ("mit", "mettre", "V", "frame=2#Activity_stop|role=1.3#Message"),
    ("vite", "vite", "ADV", "role=1.3#Message"),
    ("fin", "fin", "N", "frame=2#Activity_stop|role=1.3#Message"),
    ("aux", "à", "P+D", "role=2.3#Activity"),
    ("combats", "combat", "N", "role=2.3#Activity"),
    ("en", "en", "P", "mwehead=P|mwelemma=en_raison_de|frame=3#FR_Reason"),
    ("raison", "raison", "N", "component=y|frame=3#FR_Reason"),
    ("d'", "de", "P", "component=y|frame=3#FR_Reason"),
    ("hiver", "_", "N", "role=3.1#Cause,2.3#Activity"),
    (".", ".", "PONCT", "frame=4#FR_Reason,5#FR_Reason"),
]
TEXT = "Hier le roi dit qu' il mit vite fin aux combats en raison d' hiver ."


def table(rows=ROWS) -> str:
    lines = (
        f"{number}\t{form}\t{lemma}\t{tag}\t{tag}\t{features}\t0\troot\t_\t_"
        for number, (form, lemma, tag, features) in enumerate(rows, 1)
    )
    return "\n".join(lines) + "\n\n"


GOOD = table() + table([("Fin", "fin", "N", "frame=1#End"), ("!", "!", "PONCT", "_")])


def write(folder: Path, text: str, name: str = "sequoia.conll") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tables"


def test_a_sentence_is_a_text_with_its_frames(folder: Path, tmp_path: Path):
    texts, counts = read_framenet_conll(write(folder, GOOD), {("FR_Reason", "Cause"): "peripheral"})
    assert [(text.id, text.text) for text in texts] == [("essai-1", TEXT), ("sequoia-2", "Fin !")]

    def told(frame):
        parts = (frame.lexical_unit.span, *frame.lexical_unit.more)
        elements = [(each.name, each.span.of(TEXT)) for each in frame.elements]
        return frame.frame, frame.lexical_unit.name, [part.of(TEXT) for part in parts], elements

    statement, stop, reason, *odd = texts[0].frames
    assert told(statement) == (
        "FR_Statement-manner-noise",
        "dire.verb",
        ["dit"],
        [("Speaker", "le roi"), ("Speaker", "il"), ("Message", "il mit vite fin")],
    )
    assert told(stop) == (
        "Activity_stop",
        "mettre.verb",
        ["mit", "fin"],
        [("Agent", "le roi"), ("Agent", "il"), ("Activity", "aux combats"), ("Activity", "hiver")],
    )
    assert told(reason) == ("FR_Reason", "en raison de.preposition", ["en raison d'"], [("Cause", "hiver")])
    assert reason.elements[0].core == "peripheral"
    assert [told(each) for each in odd] == [("FR_Reason", "..other", ["."], [])]  # evoked twice by one token
    assert {name: count for name, count in counts.items() if count} == {
        "triggers_in_several_parts": 1,
        "elements_in_several_parts": 1,
        "elements_overlapping": 2,
        "elements_not_expressed": 2,
        "elements_of_unknown_core_type": 7,
        "frames_given_twice": 1,
    }
    write_texts(tmp_path / "texts.jsonl", texts)
    assert read_texts(tmp_path / "texts.jsonl") == texts


def test_a_trigger_of_several_tokens_alone_has_the_lemma_and_tag_of_the_whole(folder: Path):
    first, second = ("en", "en", "P", "mwelemma=en_bas|mwehead=ADV|frame=1#Place"), ("bas", "bas", "A", "frame=1#Place")
    texts, _ = read_framenet_conll(write(folder, table([first, second]) + table([first])))
    assert [text.frames[0].lexical_unit.name for text in texts] == ["en bas.adverb", "en.preposition"]
