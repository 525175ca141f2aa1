"""Inflection of French verbs, nouns and adjectives, as far as the grammar needs it."""

from dataclasses import dataclass
from functools import cache

# Past participle, simple past (singular, plural), stem of the imperfect.
_IRREGULAR = {
    "acquérir": ("acquis", "acquit", "acquirent", "acquér"),
    "apercevoir": ("aperçu", "aperçut", "aperçurent", "apercev"),
    "apprendre": ("appris", "apprit", "apprirent", "appren"),
    "assaillir": ("assailli", "assaillit", "assaillirent", "assaill"),
    "atteindre": ("atteint", "atteignit", "atteignirent", "atteign"),
    "avoir": ("eu", "eut", "eurent", "av"),
    "commettre": ("commis", "commit", "commirent", "commett"),
    "conclure": ("conclu", "conclut", "conclurent", "conclu"),
    "conduire": ("conduit", "conduisit", "conduisirent", "conduis"),
    "connaître": ("connu", "connut", "connurent", "connaiss"),
    "conquérir": ("conquis", "conquit", "conquirent", "conquér"),
    "construire": ("construit", "construisit", "construisirent", "construis"),
    "devenir": ("devenu", "devint", "devinrent", "deven"),
    "devoir": ("dû", "dut", "durent", "dev"),
    "découvrir": ("découvert", "découvrit", "découvrirent", "découvr"),
    "détruire": ("détruit", "détruisit", "détruisirent", "détruis"),
    "écrire": ("écrit", "écrivit", "écrivirent", "écriv"),
    "élire": ("élu", "élut", "élurent", "élis"),
    "être": ("été", "fut", "furent", "ét"),
    "faire": ("fait", "fit", "firent", "fais"),
    "fuir": ("fui", "fuit", "fuirent", "fuy"),
    "interrompre": ("interrompu", "interrompit", "interrompirent", "interromp"),
    "instruire": ("instruit", "instruisit", "instruisirent", "instruis"),
    "mettre": ("mis", "mit", "mirent", "mett"),
    "mourir": ("mort", "mourut", "moururent", "mour"),
    "obtenir": ("obtenu", "obtint", "obtinrent", "obten"),
    "offrir": ("offert", "offrit", "offrirent", "offr"),
    "décrire": ("décrit", "décrivit", "décrivirent", "décriv"),
    "peindre": ("peint", "peignit", "peignirent", "peign"),
    "pouvoir": ("pu", "put", "purent", "pouv"),
    "prendre": ("pris", "prit", "prirent", "pren"),
    "prévenir": ("prévenu", "prévint", "prévinrent", "préven"),
    "provenir": ("provenu", "provint", "provinrent", "proven"),
    "recevoir": ("reçu", "reçut", "reçurent", "recev"),
    "remettre": ("remis", "remit", "remirent", "remett"),
    "requérir": ("requis", "requit", "requirent", "requér"),
    "reprendre": ("repris", "reprit", "reprirent", "repren"),
    "secourir": ("secouru", "secourut", "secoururent", "secour"),
    "soutenir": ("soutenu", "soutint", "soutinrent", "souten"),
    "suivre": ("suivi", "suivit", "suivirent", "suiv"),
    "surprendre": ("surpris", "surprit", "surprirent", "surpren"),
    "tenir": ("tenu", "tint", "tinrent", "ten"),
    "traduire": ("traduit", "traduisit", "traduisirent", "traduis"),
    "transmettre": ("transmis", "transmit", "transmirent", "transmett"),
    "venir": ("venu", "vint", "vinrent", "ven"),
    "vivre": ("vécu", "vécut", "vécurent", "viv"),
}
_WITH_ETRE = {"mourir", "décéder", "arriver", "venir", "provenir", "partir", "devenir"}
_PRESENT = {("avoir", "s"): "a", ("avoir", "p"): "ont", ("être", "s"): "est", ("être", "p"): "sont"}
_IMPERFECT = {("avoir", "s"): "avait", ("avoir", "p"): "avaient", ("être", "s"): "était", ("être", "p"): "étaient"}


@dataclass(frozen=True)
class Verb:
    """The forms of a verb in the third person.

    Attributes:
        participle: past participle, masculine singular.
        past: simple past, singular and plural.
        imperfect: singular and plural.
        auxiliary: "avoir" or "être" in compound tenses.
    """

    lemma: str
    participle: str
    past: tuple[str, str]
    imperfect: tuple[str, str]
    auxiliary: str


@cache
def verb(lemma: str) -> Verb:
    """Conjugate a verb.

    Raises:
        ValueError: neither regular nor in the table.
    """
    if lemma in _IRREGULAR:
        participle, *past, stem = _IRREGULAR[lemma]
    elif lemma.endswith("er"):
        root = lemma[:-2]
        soft = root + "e" if root.endswith("g") else root[:-1] + "ç" if root.endswith("c") else root
        participle, past, stem = root + "é", [soft + "a", root + "èrent"], soft
    elif lemma.endswith("ir"):
        root = lemma[:-1]
        participle, past, stem = root, [root + "t", root + "rent"], root + "ss"
        if lemma == "partir":
            participle, stem = "parti", "part"
    elif lemma.endswith("re"):
        root = lemma[:-2]
        participle, past, stem = root + "u", [root + "it", root + "irent"], root
    else:
        raise ValueError(f"no conjugation for {lemma!r}")
    auxiliary = "être" if lemma in _WITH_ETRE else "avoir"
    return Verb(lemma, participle, (past[0], past[1]), (stem + "ait", stem + "aient"), auxiliary)


def finite(lemma: str, tense: str, number: str) -> str:
    """A finite form; tense is "past" (simple), "imperfect" or "present" (the auxiliaries only)."""
    if tense == "present":
        return _PRESENT[lemma, number]
    if tense == "imperfect" and (lemma, number) in _IMPERFECT:
        return _IMPERFECT[lemma, number]
    forms = verb(lemma)
    return (forms.past if tense == "past" else forms.imperfect)[number == "p"]


def agree(participle: str, gender: str, number: str) -> str:
    """A participle in agreement: attaqué, attaquée, attaqués, attaquées; the circumflex of dû is lost."""
    form = participle + ("e" if gender == "f" else "")
    return form + ("s" if number == "p" and not form.endswith("s") else "")


_PLURALS = {"travail": "travaux", "œil": "yeux", "bijou": "bijoux", "vitrail": "vitraux"}


def plural(noun: str) -> str:
    """The plural of a noun or of a masculine adjective."""
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun[-1] in "sxz":
        return noun
    if noun.endswith(("eau", "eu", "au")):
        return noun + "x"
    return noun[:-2] + "aux" if noun.endswith("al") else noun + "s"


_FEMININES = {
    "blanc": "blanche",
    "long": "longue",
    "public": "publique",
    "grec": "grecque",
    "gros": "grosse",
    "bas": "basse",
    "premier": "première",
    "secret": "secrète",
    "vif": "vive",
    "précieux": "précieuse",
}


def adjective(lemma: str, gender: str, number: str) -> str:
    """An adjective in agreement."""
    form = lemma
    if gender == "f":
        form = _FEMININES.get(lemma) or _feminine(lemma)
        return form + ("s" if number == "p" else "")
    return plural(form) if number == "p" else form


def _feminine(lemma: str) -> str:
    for ending, feminine in (("ien", "ienne"), ("eux", "euse"), ("if", "ive"), ("er", "ère"), ("el", "elle")):
        if lemma.endswith(ending):
            return lemma[: -len(ending)] + feminine
    return lemma if lemma.endswith("e") else lemma + "e"


_DETERMINERS = {
    "le": ("le", "la", "les"),
    "un": ("un", "une", "des"),
    "son": ("son", "sa", "ses"),
    "leur": ("leur", "leur", "leurs"),
    "ce": ("ce", "cette", "ces"),
    "quel": ("quel", "quelle", "quels"),
    "plusieurs": ("plusieurs",) * 3,
    "tout": ("tout", "toute", "tous"),
    "du": ("du", "de la", "des"),
    "de": ("de",) * 3,
    "certain": ("certain", "certaine", "certains"),
}


def determiner(lemma: str, gender: str, number: str) -> str:
    """A determiner in agreement; elision and liaison are the writer's."""
    if lemma == "quel" and (gender, number) == ("f", "p"):
        return "quelles"
    if lemma == "certain" and (gender, number) == ("f", "p"):
        return "certaines"
    return _DETERMINERS[lemma][2 if number == "p" else gender == "f"]
