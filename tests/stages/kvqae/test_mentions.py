"""Mentions by label and dependency, on analyses written by hand."""

from collections import Counter

import pytest
import spacy
from spacy.attrs import DEP, HEAD
from spacy.language import Language
from spacy.tokens import Doc, Span

from trivium.formats.triviaqa import TriviaQuestion
from trivium.kvqae.construction.mentions import MentionsParameters, find_mentions, mentions_of

DEPENDENCIES = ("dobj", "nsubj", "pobj", "obj", "nsubjpass", "poss", "obl", "root")
DROPPED = ("DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL")
PARAMETERS = MentionsParameters(dependencies=DEPENDENCIES, dropped_labels=DROPPED, batch=2)
# word|head|dependency|entity; an entity goes on over words of the same label.
FATHER = "Where|6|advmod was|6|auxpass Ada|3|compound|PERSON Lark|5|poss|PERSON 's|3|case father|6|nsubjpass born|6|ROOT ?|6|punct"
WRITER = (
    "Who|1|nsubj taught|1|ROOT Ada|3|compound|PERSON Lark|1|dobj|PERSON ,|3|punct the|6|det writer|3|appos "
    "from|6|prep Dor|7|pobj|GPE ,|3|punct in|1|prep 1900|10|pobj|DATE ?|1|punct"
)
NONE = "Who|1|nsubj wrote|1|ROOT first|1|advmod|ORDINAL ?|1|punct"
BOTH = "Did|3|aux Ada|3|nsubj|PERSON ’s|1|case meet|3|ROOT Bo|3|dobj|PERSON and|4|cc Cy|4|conj|PERSON ?|3|punct"
ROOT = "Dor|0|ROOT|GPE ?|0|punct"
SHIP = (
    "In|2|prep which|2|det yard|3|pobj was|3|ROOT the|6|det Gray|6|compound|SHIP Tern|7|poss|SHIP built|3|acl ?|3|punct"
)
OWNED = "What|5|attr the|2|det Tern|4|poss|SHIP ’s|2|case builder|5|nsubj was|5|ROOT ?|5|punct"
UNION = "Which|1|det ware|6|dobj did|4|aux Tarn|4|compound|ORG Union|6|nsubj|ORG always|6|advmod sell|6|ROOT ?|6|punct"
TITLES = (
    "Does|5|aux old|2|amod miner|5|compound “|5|punct Ada|5|compound|PERSON Lark|9|nsubj|PERSON "
    "”|5|punct of|5|prep Dor|7|pobj sing|9|ROOT ?|9|punct"
)
CROSSED = "the|3|det did|4|aux Ada|3|compound|PERSON Lark|4|dobj|PERSON see|4|ROOT ?|4|punct"
# The three ways in which entities are joined; a comma depends on the word before it.
LIST = (
    "Who|1|nsubj starred|1|ROOT with|1|prep Ada|4|compound|PERSON Lark|2|pobj|PERSON ,|4|punct Cy|7|compound|PERSON "
    "Wren|4|conj|PERSON and|7|cc Bo|10|compound|PERSON Finch|7|conj|PERSON in|1|prep the|14|det 1993|14|nummod "
    "film|11|pobj ?|1|punct"
)
POET = (
    "Who|1|nsubj preceded|1|ROOT Ada|3|compound|PERSON Lark|1|dobj|PERSON ,|3|punct the|6|det poet|3|appos ,|3|punct "
    "and|3|cc Bo|10|compound|PERSON Finn|3|conj|PERSON ?|1|punct"
)
DUO = (
    "Who|1|nsubj joined|1|ROOT Simon|1|dobj|ORG and|2|cc|ORG Garfunkel|2|conj|ORG of|2|prep Dor|5|pobj and|2|cc "
    "Cy|2|conj ?|1|punct"
)


def analyse(vocabulary, text):
    rows = [word.split("|") for word in text.split()]
    words = [row[0] for row in rows]
    spaces = [following not in {"'s", "’s", ",", "?"} for following in words[1:]] + [False]
    document = Doc(vocabulary, words, spaces, heads=[int(row[1]) for row in rows], deps=[row[2] for row in rows])
    labels = [row[3] if len(row) > 3 else "" for row in rows]
    starts = [place for place, label in enumerate(labels) if label and (place == 0 or labels[place - 1] != label)]
    spans = []
    for start in starts:
        end = start
        while end < len(labels) and labels[end] == labels[start]:
            end += 1
        spans.append(Span(document, start, end, label=labels[start]))
    document.set_ents(spans)
    return document


@pytest.fixture(scope="module")
def pipeline():
    """A pipeline that knows these sentences by heart."""
    blank = spacy.blank("en")
    known = {document.text: document for document in (analyse(blank.vocab, text) for text in ALL)}

    @Language.component("by_heart")
    def by_heart(document):
        gold = known[document.text]
        document = document.from_array([HEAD, DEP], gold.to_array([HEAD, DEP]))
        document.set_ents([Span(document, each.start, each.end, label=each.label_) for each in gold.ents])
        return document

    blank.add_pipe("by_heart", name="parser")
    blank.add_pipe("sentencizer")  # not needed: left out when texts are analysed
    return blank


ALL = (FATHER, WRITER, NONE, BOTH, ROOT)


def found(text):
    counts = Counter()
    document = analyse(spacy.blank("en").vocab, text)
    return mentions_of("tc_1", document, DEPENDENCIES, DROPPED, counts), counts


def test_a_possessive_mention():
    (mention,), _ = found(FATHER)
    assert mention.text == "Where was Ada Lark's father born?"
    assert (mention.surface, mention.label, mention.dependency, mention.head) == (
        "Ada Lark",
        "PERSON",
        "poss",
        "father",
    )
    assert mention.possessive
    assert mention.text[mention.subtree_start : mention.subtree_end] == "Ada Lark's"
    assert mention.key == "tc_1_10"


def test_the_subtree_holds_the_apposition_and_dates_are_dropped():
    (mention, place), counts = found(WRITER)
    assert mention.text[mention.subtree_start : mention.subtree_end] == "Ada Lark, the writer from Dor,"
    assert (mention.dependency, mention.possessive, place.surface) == ("dobj", False, "Dor")
    assert counts == {"entities": 3, "dropped_label": 1}


@pytest.mark.parametrize(
    ("text", "possessive"),
    [
        (SHIP, False),  # what the parser takes for a possessive bears no mark
        (SHIP.replace("Tern|7|poss|SHIP", "Terns’|7|poss|SHIP"), True),
        (OWNED, True),
        (FATHER.replace(" 's|5|case", " ,|5|punct writer|5|appos 's|5|case"), True),  # after the apposition
        (UNION.replace("Union", "Unions’"), False),  # the parser has it for the subject
    ],
)
def test_a_possessive_bears_its_mark(text, possessive):
    ((mention, *_), _) = found(text)
    assert mention.possessive is possessive


@pytest.mark.parametrize(
    ("text", "stretch"),
    [
        (SHIP, "the Gray Tern"),
        (UNION, "Tarn Union"),  # not "did"
        (UNION.replace("did|4|aux", ",|4|punct"), "Tarn Union"),
        (TITLES, "old miner “ Ada Lark ” of Dor"),
        (CROSSED, "Ada Lark"),  # arcs cross: what lies between does not depend on the mention
    ],
)
def test_of_the_words_before_it_a_mention_takes_those_of_its_noun_phrase(text, stretch):
    ((mention,), _) = found(text)
    assert mention.text[mention.subtree_start : mention.subtree_end] == stretch


@pytest.mark.parametrize(
    ("text", "stretch"),
    [
        (LIST, "Ada Lark"),
        (LIST.replace("and|7|cc", "and|10|cc"), "Ada Lark"),  # as in Universal Dependencies
        (POET, "Ada Lark, the poet"),
        (POET.replace("and|3|cc", "and|6|cc").replace("Finn|3|conj", "Finn|6|conj"), "Ada Lark, the poet, and Bo Finn"),
        (DUO, "Simon and Garfunkel of Dor"),
    ],
)
def test_entities_that_are_joined_to_a_mention_are_not_part_of_it(text, stretch):
    ((mention, *_), _) = found(text)
    assert mention.text[mention.subtree_start : mention.subtree_end] == stretch


def ask(pipeline, texts):
    for number, text in enumerate(texts):
        yield TriviaQuestion(f"tc_{number}", analyse(pipeline.vocab, text).text, "x", ("x",), ())


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_questions_are_counted_by_mentions_whatever_the_batch(pipeline, batch):
    parameters = PARAMETERS.model_copy(update={"batch": batch})
    mentions, counts = find_mentions(ask(pipeline, [*ALL, FATHER]), pipeline, parameters)
    assert [mention.question for mention in mentions] == ["tc_0", "tc_1", "tc_1", "tc_3", "tc_3", "tc_4", "tc_5"]
    expected = {"questions": 6, "mentions": 7, "mentions_a_question": 7 / 6, "questions_with_no": 1}
    expected |= {"questions_with_one": 3, "questions_with_two": 2, "questions_with_more": 0}
    assert counts == expected | {"entities": 10, "dropped_label": 2, "dropped_dependency": 1}
