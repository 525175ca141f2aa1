"""Trees, inflection and phrases on hand-made cases."""

import pytest

from sample.french.morphology import verb
from sample.french.phrases import governed, phrase
from sample.french.tree import Node, write
from sample.french.verbs import Form, verb_group


def said(node: Node) -> str:
    return write(node).text


@pytest.mark.parametrize(
    ("notation", "expected"),
    [
        ("à le:d bord:m de le:d fleuve:m", "Au bord du fleuve"),
        ("à le:d entrée:f de le:d détroit:m", "À l'entrée du détroit"),
        ("de le:d troupe:fp", "Des troupes"),
        ("à le:d habitant:mp de Arville:Pf", "Aux habitants d'Arville"),
        ("de un:d héros:m", "D'un héros"),
        ("de le:d héros:m", "Du héros"),
        ("de le:d hiver:m", "De l'hiver"),
        ("de un:d vivre:mp", "De vivres"),
        ("de un:d arme:fp", "D'armes"),
        ("à_cause_de le:d pluie:f", "À cause de la pluie"),
        ("à_cause_de le:d froid:m", "À cause du froid"),
        ("le:d vase:m en argent:m", "Le vase en argent"),
        ("un:d grand:a renommée:f", "Une grande renommée"),
        ("en 1312:Y", "En 1312"),
        ("éviter:v un:d révolte:f", "Éviter une révolte"),
    ],
)
def test_elision_and_contraction(notation: str, expected: str) -> None:
    assert said(phrase(notation)) == expected


def test_a_contraction_is_one_token_and_the_tree_stays_whole() -> None:
    line = write(governed("de", phrase("le:d roi:m")))
    assert [token.form for token in line.tokens] == ["Du", "roi"]
    assert [token.head for token in line.tokens] == [2, 0]
    assert line.span(line.nodes[1]).of(line.text) == "Du roi"


def test_what_stands_apart_is_not_in_the_span() -> None:
    subject = phrase("le:d roi:m")
    clause = Node("attaqua", "VERB").open("nsubj", Node("qui", "PRON")).open("punct", Node(",", "PUNCT"))
    clause.apart = True
    root = Node("mourut", "VERB").open("nsubj", subject.close("acl:relcl", clause))
    line = write(root, 10)
    assert line.text == "Le roi, qui attaqua mourut"
    span = line.span(subject)
    assert (span.start, span.end) == (10, 16)


@pytest.mark.parametrize(
    ("lemma", "singular", "several", "imperfect", "participle"),
    [
        ("attaquer", "attaqua", "attaquèrent", "attaquait", "attaqué"),
        ("assiéger", "assiégea", "assiégèrent", "assiégeait", "assiégé"),
        ("annoncer", "annonça", "annoncèrent", "annonçait", "annoncé"),
        ("bâtir", "bâtit", "bâtirent", "bâtissait", "bâti"),
        ("perdre", "perdit", "perdirent", "perdait", "perdu"),
        ("abattre", "abattit", "abattirent", "abattait", "abattu"),
        ("découvrir", "découvrit", "découvrirent", "découvrait", "découvert"),
        ("prendre", "prit", "prirent", "prenait", "pris"),
        ("acquérir", "acquit", "acquirent", "acquérait", "acquis"),
        ("élire", "élut", "élurent", "élisait", "élu"),
        ("faire", "fit", "firent", "faisait", "fait"),
        ("venir", "vint", "vinrent", "venait", "venu"),
        ("secourir", "secourut", "secoururent", "secourait", "secouru"),
        ("interrompre", "interrompit", "interrompirent", "interrompait", "interrompu"),
    ],
)
def test_conjugation(lemma: str, singular: str, several: str, imperfect: str, participle: str) -> None:
    assert verb(lemma).past == (singular, several)
    assert verb(lemma).imperfect[0] == imperfect
    assert verb(lemma).participle == participle


def test_participles_agree_with_the_subject_after_etre_and_with_an_object_before_avoir() -> None:
    assert said(verb_group("arriver", Form(False, "perfect", gender="f", number="p"))) == "Sont arrivées"
    ruins = Node("ruines", "NOUN", gender="f", number="p")
    assert said(verb_group("découvrir", Form(False, "perfect"), object_before=ruins)) == "A découvertes"
    assert said(verb_group("découvrir", Form(False, "perfect", gender="f"))) == "A découvert"
