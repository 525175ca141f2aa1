"""FrameNet's full-text XML, written here as release 1.7 has it: what is read, counted and refused."""

from pathlib import Path

import pytest

from trivium.core.errors import BadInput
from trivium.formats.frame_corpora import read_texts, write_texts
from trivium.formats.framenet_xml import COUNTS, read_core_types, read_framenet

FIRST = "L'armée perdit la bataille."
SECOND = "Il mit vite fin à la guerre."


def label(sentence: str, part: str, name: str) -> str:
    start = sentence.index(part)
    return f'<label start="{start}" end="{start + len(part) - 1}" name="{name}"/>'


def annotation(
    frame: str, unit: str, target: str, elements: str, *, status: str = "MANUAL", second: str = "", more: str = ""
) -> str:
    return f"""
    <annotationSet ID="7" status="{status}" luID="1" luName="{unit}" frameID="2" frameName="{frame}">
      <layer rank="1" name="Target">{target}</layer>
      <layer rank="1" name="FE">{elements}</layer>
      <layer rank="2" name="FE">{second}</layer>
      <layer rank="1" name="GF"><label start="0" end="999" name="Ext"/></layer>
      <layer rank="1" name="PT"><label start="0" end="999" name="NP"/></layer>{more}
    </annotationSet>"""


LOSING = annotation(
    "Losing",
    "perdre.v",
    label(FIRST, "perdit", "Target"),
    label(FIRST, "la bataille", "Possession") + label(FIRST, "L'armée", "Owner") + '<label itype="INI" name="Manner"/>',
    second=label(FIRST, "bataille", "Theme"),
)
ENDING = annotation(
    "Activity_stop",
    "mettre fin.v",
    label(SECOND, "mit", "Target") + label(SECOND, "fin", "Target"),
    label(SECOND, "Il", "Agent") + label(SECOND, "vite", "Time") + label(SECOND, "à la guerre", "Activity"),
)


def document(*sentences: tuple[str, int, str], root: str = "fullTextAnnotation") -> str:
    """Sentences as (text, paragraph, annotation sets)."""
    body = "".join(
        f'\n  <sentence corpID="1" docID="2" sentNo="{number}" paragNo="{paragraph}" aPos="0" ID="{number}">'
        f"\n    <text>{text}</text>"
        f'\n    <annotationSet ID="1" status="UNANN"><layer rank="1" name="PENN">{label(text, text, "np")}</layer></annotationSet>'
        f"{sets}\n  </sentence>"
        for number, (text, paragraph, sets) in enumerate(sentences, 1)
    )
    return f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<?xml-stylesheet type="text/xsl" href="fullText.xsl"?>
<{root} xmlns="http://framenet.icsi.berkeley.edu" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <header><corpus description="Guerres" name="G" ID="1"><document description="La bataille" name="Bataille" ID="2"/></corpus></header>{body}
</{root}>
"""


GOOD = document((FIRST, 1, LOSING), (SECOND, 1, ENDING), ("Fin.", 2, ""))


def write(folder: Path, text: str, name: str = "bataille.xml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "fulltext"


def test_sentences_become_one_text_with_frames_in_place(folder: Path):
    (text,), counts = read_framenet(write(folder, GOOD))
    assert (text.id, text.title, text.chains) == ("bataille", "Bataille", ())
    assert text.text == f"{FIRST} {SECOND}\nFin."
    losing, ending = text.frames
    assert (losing.frame, losing.lexical_unit.name) == ("Losing", "perdre.verb")
    assert losing.lexical_unit.span.of(text.text) == "perdit"
    assert [(element.name, element.span.of(text.text)) for element in losing.elements] == [
        ("Owner", "L'armée"),
        ("Possession", "la bataille"),
        ("Theme", "bataille"),
    ]
    assert [element.layer for element in losing.elements] == [1, 1, 2]
    assert (ending.lexical_unit.lemma, ending.lexical_unit.span.of(text.text)) == ("mettre fin", "mit")
    assert [part.of(text.text) for part in ending.lexical_unit.more] == ["fin"]
    assert [element.span.of(text.text) for element in ending.elements] == ["Il", "vite", "à la guerre"]
    assert counts == {
        "frames_without_trigger": 0,
        "frames_not_annotated": 0,
        "frames_given_twice": 0,
        "triggers_in_several_parts": 1,
        "elements_in_several_parts": 0,
        "elements_overlapping": 2,
        "elements_of_second_rank": 1,
        "elements_given_twice": 0,
        "elements_not_expressed": 1,
        "elements_of_unknown_core_type": 6,
        "sentences_joined_words": 0,
    }
    assert tuple(counts) == COUNTS


def test_core_types_come_from_the_frames(folder: Path, tmp_path: Path):
    frame = """<?xml version="1.0"?><frame cBy="x" name="Losing" ID="2" xmlns="http://framenet.icsi.berkeley.edu">
      <definition>d</definition>
      <FE coreType="Core" abbrev="own" name="Owner" ID="1"><definition/></FE>
      <FE coreType="Extra-Thematic" name="Possession" ID="3"/>
      <FE coreType="Core-Unexpressed" name="Means" ID="4"/><FE coreType="Peripheral" name="Time" ID="5"/>
      <lexUnit name="perdre.v" ID="9"/></frame>"""
    types = read_core_types(write(tmp_path / "frame", frame, "Losing.xml"))
    assert types == {
        ("Losing", "Owner"): "core",
        ("Losing", "Possession"): "extra-thematic",
        ("Losing", "Means"): "core",
        ("Losing", "Time"): "peripheral",
    }
    (text,), counts = read_framenet(write(folder, GOOD), types)
    assert [element.core for element in text.frames[0].elements] == ["core", "extra-thematic", "core"]
    assert counts["elements_of_unknown_core_type"] == 4


def test_element_in_parts_keeps_every_stretch(folder: Path):
    parts = label(FIRST, "L'armée", "Owner") + label(FIRST, "bataille", "Owner")
    sets = annotation("Losing", "perdre.v", label(FIRST, "perdit", "Target"), parts)
    (text,), counts = read_framenet(write(folder, document((FIRST, 1, sets))))
    assert [(element.name, element.span.of(FIRST)) for element in text.frames[0].elements] == [
        ("Owner", "L'armée"),
        ("Owner", "bataille"),
    ]
    assert counts["elements_in_several_parts"] == 1


def test_frames_without_trigger_or_elements_looked_for_are_counted(folder: Path):
    sets = annotation("Losing", "perdre.v", "", label(FIRST, "L'armée", "Owner"))
    sets += annotation("Losing", "perdre.v", label(FIRST, "perdit", "Target"), "", status="UNANN")
    sets += annotation("Losing", "perdre.v", "", "")
    (text,), counts = read_framenet(write(folder, document((FIRST, 1, sets))))
    assert text.frames == ()
    assert (counts["frames_without_trigger"], counts["frames_not_annotated"]) == (2, 1)


def test_overlapping_elements_and_trigger_parts_are_kept(folder: Path):
    targets = label(FIRST, "perdit", "Target") + label(FIRST, "dit la", "Target") + label(FIRST, "bataille", "Target")
    elements = label(FIRST, "L'armée", "Owner") + label(FIRST, "L'", "Possession") + label(FIRST, "L'", "Possession")
    sets = annotation("Losing", "perdre.v", targets, elements)
    (text,), counts = read_framenet(write(folder, document((FIRST, 1, sets))))
    (losing,) = text.frames
    assert [part.of(FIRST) for part in (losing.lexical_unit.span, *losing.lexical_unit.more)] == [
        "perdit la",
        "bataille",
    ]
    assert [(each.name, each.span.of(FIRST)) for each in losing.elements] == [
        ("Possession", "L'"),
        ("Owner", "L'armée"),
    ]
    assert (counts["elements_overlapping"], counts["elements_given_twice"]) == (2, 1)


def unit_file(unit: str, frame: str, *sentences: tuple[str, str, str]) -> str:
    """A lexical unit's sentences as (id, text, labels of the layers Target and FE)."""
    body = "".join(
        f'<sentence ID="{identifier}">\n<text>{text}</text>'
        f'<annotationSet ID="1" status="UNANN"><layer rank="1" name="PENN">{label(text, text, "np")}</layer></annotationSet>'
        f'\n<annotationSet ID="2" status="MANUAL">{layers}</annotationSet></sentence>'
        for identifier, text, layers in sentences
    )
    return (
        f'<?xml version="1.0"?>\n<lexUnit xmlns="http://framenet.icsi.berkeley.edu" POS="V" name="{unit}" ID="1" '
        f'frame="{frame}" frameID="2"><header><frame><FE type="Core" name="Owner"/></frame></header>'
        f'<lexeme POS="V" name="x"/><subCorpus>{body}</subCorpus><valences><FERealization total="1"/></valences></lexUnit>'
    )


def layers(text: str, trigger: str, **elements: str) -> str:
    labels = "".join(label(text, part, name) for name, part in elements.items())
    return f'<layer rank="1" name="Target">{label(text, trigger, "Target")}</layer><layer rank="1" name="FE">{labels}</layer>'


JOINED = FIRST.replace("la bataille", "la_bataille")
UNIT = unit_file("perdre.v", "Losing", ("10", FIRST, layers(FIRST, "perdit", Owner="L'armée")))


def test_labelled_sets_without_annotation_are_counted_in_files_of_lexical_units(folder: Path):
    unannotated = UNIT.replace('status="MANUAL"', 'status="UNANN"')
    (text,), counts = read_framenet(write(folder, unannotated, "lu1.xml"))
    assert (text.frames, counts["frames_not_annotated"]) == ((), 1)


def test_sentences_of_lexical_units_are_texts_with_the_frames_of_all_files(folder: Path, tmp_path: Path):
    write(folder, UNIT, "lu1.xml")
    other = unit_file(
        "bataille.n",
        "Hostile_encounter",
        ("10", JOINED, layers(JOINED, "bataille", Side_1="L'armée")),
        ("9", SECOND, layers(SECOND, "guerre")),
    )
    write(folder, other, "lu2.xml")
    write(folder, UNIT, "lu3.xml")
    write(folder, GOOD, "text.xml")
    texts, counts = read_framenet(folder)
    assert [text.id for text in texts] == ["text", "9", "10"]
    *_, text = texts
    assert text.text == FIRST
    assert [(each.frame, each.lexical_unit.name, each.elements[0].name) for each in text.frames] == [
        ("Losing", "perdre.verb", "Owner"),
        ("Hostile_encounter", "bataille.noun", "Side_1"),
    ]
    assert counts["sentences_joined_words"] == 1  # lu2 after lu1; lu3 has the text that both made
    assert (counts["frames_given_twice"], counts["frames_not_annotated"], counts["frames_without_trigger"]) == (1, 0, 0)
    write_texts(tmp_path / "texts.jsonl", texts)
    assert read_texts(tmp_path / "texts.jsonl") == texts


def lines_to(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            label(FIRST, "L'armée", "Owner"),
            '<label start="0" end="27" name="Owner"/>',
            r"'FE': label 'Owner' is not in its sentence; got \(0, 27\); expected start <= end <= 26",
        ),
        (label(FIRST, "L'armée", "Owner"), '<label start="a" end="3" name="Owner"/>', "'start': not a whole number"),
        (label(FIRST, "L'armée", "Owner"), '<label name="Owner"/>', "field 'start': missing attribute"),
        ("perdre.v", "perdre", "field 'luName': no known part of speech; got 'perdre'.*choices: v, vpp, n"),
        ("</sentence>", "</phrase>", "not XML: mismatched tag"),
    ],
)
def test_bad_annotation_is_refused_with_its_line(folder: Path, old: str, new: str, message: str):
    assert old in GOOD
    line = lines_to(GOOD, old)
    with pytest.raises(BadInput, match=rf"bataille\.xml:{line}: .*{message}"):
        read_framenet(write(folder, GOOD.replace(old, new, 1)))


@pytest.mark.parametrize(
    "declaration",
    ['<!DOCTYPE x [<!ENTITY a "aaaa">]>', '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'],
)
def test_xml_that_reaches_out_or_expands_is_refused(folder: Path, declaration: str):
    hostile = GOOD.replace("<fullText", f"{declaration}\n<fullText", 1).replace("Fin.", "&a;")
    with pytest.raises(BadInput, match="XML with entities or references to other files is refused"):
        read_framenet(write(folder, hostile))
