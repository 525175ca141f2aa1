"""Writing a caption again after phrases have gone: lists, articles, agreement, capital letter, full stop."""

from collections.abc import Sequence

from trivium.decorrelation.captions.clauses import SUBJECT, Clause, Noun
from trivium.language.english.lexicon import QUANTITIES, words_of
from trivium.language.english.word_forms import THIRD_PERSON, is_plural

_MANY_TO_ONE = {"are": "is", "were": "was", "have": "has", "do": "does"}
_THIRD = {base: third for third, base in THIRD_PERSON.items()}
_DETERMINED = words_of(
    """a an the this that these those some any every each another no his her its their my your our one two three
    four five six seven eight nine ten several many both all various 's"""
)
_MASSES = words_of("luggage broccoli food grass water wine soda snow sand furniture fruit scissors skis pizza")


def is_single(noun: Noun) -> bool:
    """Whether a phrase means one thing."""
    if noun.words[0] in ("two", "three", "four", "several", "many", "some", "both"):
        return False
    if any(word in QUANTITIES for word in noun.words) and "of" in noun.words:
        return noun.words[0] in ("a", "an", "the")
    return not is_plural(noun.head) and noun.head not in _MASSES


def article_for(text: str) -> str:
    """The phrase with "a" or "an", unless something determines it already."""
    first = text.split()[0].lower()
    return text if first in _DETERMINED or first.isdigit() else f"{article(text)} {text}"


def article(text: str) -> str:
    """The article `a`, or `an` before a vowel's sound."""
    word = text.split()[0].lower()
    silent = word.startswith(("hour", "honest"))
    glide = word.startswith(("uni", "use", "euro", "one"))
    return "an" if (word[0] in "aeiou" and not glide) or silent else "a"


def join(items: Sequence[str]) -> str:
    """A list in words: `a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def write(original: str, clauses: Sequence[Clause]) -> str:
    """The sentence that the clauses make, with the original's capital and full stop."""
    written = ""
    for number, clause in enumerate(clauses):
        text = _clause(clause)
        if not text:
            continue
        lead = clause.lead if written and number else ""
        if lead == "and" and not any(each.alive and each.finite for each in clauses[0].segments):
            lead = ", and"
        written += f"{lead if lead.startswith(',') else ' ' + lead} {text}" if written else text
    words = " ".join(written.split()).replace(" 's", "'s").strip(" ,")
    if not words:
        return ""
    if original.lstrip()[:1].isupper():
        words = words[0].upper() + words[1:]
    return words + ("." if original.rstrip().endswith((".", "!", "?")) else "")


def _clause(clause: Clause) -> str:
    one = clause.narrowed and not is_plural(clause.subject[-1].head) and len(clause.subject) == 1
    opening = [_agree(word) if one else word for word in clause.opening]
    text = " ".join([*opening, *([_list(clause.subject)] if clause.subject else []), *clause.tail])
    agreed = False
    for segment in clause.segments:
        if not segment.alive:
            continue
        words = list(segment.words)
        if one and segment.finite and segment.parent == SUBJECT and not agreed:
            words[0] = _agree(words[0])
            agreed = True
        parts = [*words, *([_list(segment.nouns)] if segment.nouns else []), *segment.tail]
        lead = segment.lead if text else ""
        text += (lead if lead.startswith(",") else f" {lead}") + " " + " ".join(parts)
    return " ".join(text.split()).replace(" ,", ",")


def _agree(verb: str) -> str:
    """The form that goes with one thing: "are" to "is", "sit" to "sits"."""
    return _MANY_TO_ONE.get(verb, _THIRD.get(verb, verb))


def _list(nouns: Sequence[Noun]) -> str:
    return join([_written(noun) for noun in nouns])


def _written(noun: Noun) -> str:
    return noun.text if noun.owner is None else f"{_written(noun.owner)}'s {noun.text}"
