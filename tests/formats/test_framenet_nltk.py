"""A small release in the layout of FrameNet 1.7, written here, is read as NLTK's reader reads it."""

from pathlib import Path
from typing import Any

import nltk
import pytest
from nltk.corpus.reader.framenet import FramenetCorpusReader

from tests.formats.test_framenet_xml import FIRST, GOOD, label, layers, unit_file, write
from trivium.formats.framed_texts import AnnotatedText, FrameInstance
from trivium.formats.framenet_xml import POS, read_core_types, read_framenet

NAMESPACE = 'xmlns="http://framenet.icsi.berkeley.edu"'
ENGLISH = "He called the old man up twice."
PARTS = (
    f'<layer rank="1" name="Target">{label(ENGLISH, "called", "Target")}{label(ENGLISH, "up", "Target")}</layer>'
    f'<layer rank="1" name="FE">{label(ENGLISH, "He", "Owner")}{label(ENGLISH, "twice", "Time")}'
    '<label itype="DNI" name="Means"/></layer>'
    f'<layer rank="2" name="FE">{label(ENGLISH, "the old man", "Possession")}{label(ENGLISH, "man", "Owner")}</layer>'
)
ELEMENTS = {
    "Owner": "Core",
    "Theme": "Core",
    "Possession": "Core",
    "Time": "Peripheral",
    "Means": "Core-Unexpressed",
    "Agent": "Core",
    "Activity": "Core",
}


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two frames, two lexical units of each kind of file, one full text."""
    root = tmp_path / "fndata-1.7"
    root.mkdir()
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])  # it reads nothing from elsewhere
    units = {1: ("perdre.v", "Losing", 2), 2: ("mettre fin.v", "Activity_stop", 3)}
    for number, frame in {2: "Losing", 3: "Activity_stop"}.items():
        elements = "".join(
            f'<FE coreType="{core}" abbrev="" name="{name}" ID="{place}" bgColor="" fgColor="" cDate="">'
            "<definition>d</definition></FE>"
            for place, (name, core) in enumerate(ELEMENTS.items(), 10 * number)
        )
        named = "".join(
            f'<lexUnit status="Created" POS="V" name="{name}" ID="{unit}" lemmaID="1" cDate=""><definition>d</definition>'
            '<sentenceCount annotated="1" total="1"/><lexeme order="1" headword="false" breakBefore="false" POS="V" name="x"/>'
            "</lexUnit>"
            for unit, (name, of, _) in units.items()
            if of == frame
        )
        text = f'<?xml version="1.0"?><frame {NAMESPACE} name="{frame}" ID="{number}" cDate=""><definition>d</definition>{elements}{named}</frame>'
        write(root / "frame", text, f"{frame}.xml")
    text = GOOD
    for unit, (name, frame, number) in units.items():
        old = f'luID="1" luName="{name}" frameID="2" frameName="{frame}"'
        text = text.replace(old, f'luID="{unit}" luName="{name}" frameID="{number}" frameName="{frame}"')
    write(root / "fulltext", text)
    write(
        root / "lu",
        unit_file("perdre.v", "Losing", ("10", ENGLISH, PARTS), ("11", FIRST, layers(FIRST, "perdit"))),
        "lu1.xml",
    )
    rows = "".join(
        f'<lu numAnnotInstances="1" frameName="{frame}" frameID="{number}" status="Created" name="{name}" ID="{unit}" hasAnnotation="true"/>'
        for unit, (name, frame, number) in units.items()
    )
    frames = "".join(f'<frame ID="{n}" name="{f}" cDate=""/>' for n, f in ((2, "Losing"), (3, "Activity_stop")))
    for name, body in {
        "luIndex": rows,
        "frameIndex": frames,
        "fulltextIndex": '<corpus description="Guerres" name="G" ID="1"><document description="La bataille" name="Bataille" ID="2"/></corpus>',
        "frRelation": "",
        "semTypes": "",
    }.items():
        root_name = {"frRelation": "frameRelations"}.get(name, name)
        write(root, f'<?xml version="1.0"?><{root_name} {NAMESPACE}>{body}</{root_name}>', f"{name}.xml")
    (root / "fulltext" / "bataille.xml").rename(root / "fulltext" / "G__Bataille.xml")
    return root


def told(annotation: Any) -> tuple[Any, ...]:
    """What NLTK has of an annotation set, in our order."""
    ranked = [annotation.get(name, ([], {}))[0] for name in ("FE", "FE2", "FE3")]
    elements = sorted((start, end, layer, name) for layer, found in enumerate(ranked, 1) for start, end, name in found)
    return annotation.Target, elements


def ours(frame: FrameInstance, offset: int) -> tuple[Any, ...]:
    parts = (frame.lexical_unit.span, *frame.lexical_unit.more)
    elements = [(each.span.start - offset, each.span.end - offset, each.layer, each.name) for each in frame.elements]
    return [(part.start - offset, part.end - offset) for part in parts], elements


def named(frame: FrameInstance) -> tuple[str, str]:
    lemma, _, pos = frame.lexical_unit.name.rpartition(".")
    return frame.frame, f"{lemma}.{next(short for short, long in POS.items() if long == pos)}"


def sentences_with_frames(text: AnnotatedText, sentences: list[str]) -> list[list[FrameInstance]]:
    starts = [text.text.index(sentence) for sentence in sentences]
    inside = [[each for each in text.frames if start <= each.lexical_unit.span.start < start + len(sentence)]
              for start, sentence in zip(starts, sentences, strict=True)]  # fmt: skip
    assert sum(map(len, inside)) == len(text.frames)
    return inside


def test_a_full_text_is_the_same(release: Path):
    reader = FramenetCorpusReader(str(release), [])
    document_read = reader.doc(2)
    (text,), counts = read_framenet(release / "fulltext", read_core_types(release / "frame"))
    sentences = [sentence.text for sentence in document_read.sentence]
    assert text.text.replace("\n", " ") == " ".join(sentences)
    for sentence, found in zip(document_read.sentence, sentences_with_frames(text, sentences), strict=True):
        offset = text.text.index(sentence.text)
        theirs = [each for each in sentence.annotationSet if "frameName" in each]
        assert [ours(frame, offset) for frame in found] == [told(each) for each in theirs]
        assert [named(frame) for frame in found] == [(each.frameName, each.luName) for each in theirs]
        for frame, each in zip(found, theirs, strict=True):
            for element in frame.elements:
                assert each.frame.FE[element.name].coreType.lower().startswith(element.core)
    assert counts["triggers_in_several_parts"] == counts["elements_of_second_rank"] == 1


def test_sentences_of_a_lexical_unit_are_the_same(release: Path):
    unit = FramenetCorpusReader(str(release), []).lu(1)
    texts, counts = read_framenet(release / "lu", read_core_types(release / "frame"))
    assert [text.id for text in texts] == [str(sentence.ID) for sentence in unit.exemplars] == ["10", "11"]
    for text, sentence in zip(texts, unit.exemplars, strict=True):
        assert text.text == sentence.text
        (frame,) = text.frames
        assert ours(frame, 0) == told(sentence.frameAnnotation)
        assert named(frame) == (unit.frame.name, unit.name)
    assert counts["elements_not_expressed"] == len(unit.exemplars[0].frameAnnotation.FE[1]) == 1
    assert (counts["triggers_in_several_parts"], counts["elements_of_second_rank"]) == (1, 2)
