"""Captions a second of matching classes in their phrases, compared with two peers: `python -m bench.matching`.

Captions of the sample's grammar, cycled, replace COCO's 616 435. The stage's worker starts from the texts: it finds
noun phrases by rule and matches them, in two processes and in one.

The race names the classes, given words and phrases. The popular way finds the listed expressions by spaCy's
`PhraseMatcher`. An expert finds them by a tree of words; one regular expression of all, which tries each in turn, takes
twenty times as long. Both apply rules compiled to flags to what they find, and must name the same classes as ours.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bench import harness
from sample.render.canvas import Dice
from sample.scenes.catalogue import COCO
from sample.scenes.scene import make_scene
from sample.scenes.wording import describe, plain
from trivium.core.engine import LocalEngine
from trivium.core.parameters import read_parameters
from trivium.decorrelation.captions.phrases import Row, Settings, read_shard
from trivium.formats.pictures import Caption
from trivium.language.english.chunker import chunk_by_rules
from trivium.language.english.sentences import Matcher, Range, Sentence, read_sentence
from trivium.language.english.word_lists import UNDONE_AFTER, UNDONE_BEFORE, WORDS, Entry, word_lists

CAPTIONS, DISTINCT, PEER, SHARD = 616_435, 5_000, 20_000, 8192
WHY = "one path serves both modes, and so collects every expression where the stricter mode needs the longest"

Given = Sequence[tuple[Sentence, Sequence[Range]]]
Words = tuple[str, ...]
Named = list[list[Words]]  # classes of each phrase, a list a caption


def captions(number: int) -> list[str]:
    """Invent captions, `DISTINCT` of them in turn."""
    distinct = []
    for index in range(DISTINCT // 5):
        scene = make_scene(f"bench {index}", COCO, size=48, co_occurrence=0.5, colour=0.9)
        distinct += [plain(describe(scene, Dice(f"bench {index} {number}"), 0.95)) for number in range(5)]
    return [distinct[index % len(distinct)] for index in range(number)]


Found = list[tuple[int, Entry]]  # places of first words; the longest expression of each


class Rules:
    """The rules of mode `strict` as an expert would write them, for expressions found in any way.

    Args:
        classes: classes that are reported.
    """

    def __init__(self, classes: Sequence[str]) -> None:
        self.listed = word_lists(classes)

    def names(self, words: Words, phrases: Sequence[Range], matches: Sequence[Found]) -> list[Words]:
        """Return the classes of each phrase, sorted, from the expressions found in it; words already read are bits."""
        named, read = [], 0
        for (first, end), of_phrase in zip(phrases, matches, strict=True):
            if len(of_phrase) > 1:
                of_phrase.sort(
                    key=lambda match: (
                        -match[1].length,
                        match[1].last_only and match[0] + match[1].length < end,
                        match[0],
                    )
                )
            names: set[str] = set()
            for place, listed in of_phrase:
                last, bits = place + listed.length, ((1 << listed.length) - 1) << place
                if read & bits:
                    continue
                read |= bits
                if last < end and (listed.last_only or (listed.undoable and words[last] in UNDONE_BEFORE)):
                    continue
                if UNDONE_AFTER.isdisjoint(words[first:place]):
                    names.update(listed.classes)
            named.append(tuple(sorted(names)))
        return named


def tree_of(rules: Rules) -> dict[str, Any]:
    """Make a tree from words to the words that may follow them; an expression is at its end, under no word."""
    root: dict[str, Any] = {}
    for words, listed in rules.listed.items():
        node = root
        for word in words:
            node = node.setdefault(word, {})
        node[""] = listed
    return root


def by_tree(rules: Rules, tree: dict[str, Any], pages: Given) -> Named:
    """Match by a tree of words, as an expert would write it."""
    named = []
    for sentence, phrases in pages:
        words, found_of = sentence.words, []
        for first, end in phrases:
            matches: Found = []
            for place in range(first, end):
                node, last, longest = tree.get(words[place]), place + 1, None
                while node is not None:
                    listed = node.get("")
                    if listed and (last <= end or listed.leads_out):
                        longest = listed
                    node, last = node.get(words[last]) if last < len(words) else None, last + 1
                if longest:
                    matches.append((place, longest))
            found_of.append(matches)
        named.append(rules.names(words, phrases, found_of))
    return named


def by_spacy(rules: Rules, pages: Given) -> Callable[[], Named]:
    """Match by spaCy's matcher, compiled, with the words as its documents, as ours has its sentences."""
    import spacy  # here, because the workers of our side import this module
    from spacy.matcher import PhraseMatcher
    from spacy.tokens import Doc

    vocabulary = spacy.blank("en").vocab
    matcher, listed = PhraseMatcher(vocabulary), {}
    for words, entry in rules.listed.items():
        matcher.add(" ".join(words), [Doc(vocabulary, words=list(words))])
        listed[vocabulary.strings[" ".join(words)]] = entry
    documents = [Doc(vocabulary, words=list(sentence.words)) for sentence, _ in pages]

    def named() -> Named:
        names = []
        for document, (sentence, phrases) in zip(documents, pages, strict=True):
            matches = sorted(matcher(document), key=lambda match: match[2])
            longest_of = []
            for first, end in phrases:
                inside = ((place, listed[key], last) for key, place, last in matches if first <= place < end)
                longest = {place: entry for place, entry, last in inside if last <= end or entry.leads_out}
                longest_of.append(list(longest.items()))
            names.append(rules.names(sentence.words, phrases, longest_of))
        return names

    return named


def matched(matcher: Matcher, pages: Given) -> Named:
    """Match by ours; returns the classes of each phrase."""
    return [matcher.match(sentence, phrases) for sentence, phrases in pages]


def ours(texts: Sequence[str], settings: Settings, workers: int) -> int:
    """Run the stage's worker over shards; returns how many classes are named."""
    shards = (
        [Row(Caption(start + place, text), 0, "train", ()) for place, text in enumerate(texts[start : start + SHARD])]
        for start in range(0, len(texts), SHARD)
    )
    named = 0
    for batch, _ in LocalEngine(workers).map(partial(read_shard, settings), shards, description="captions"):
        named += sum(map(len, batch["classes"].to_pylist()))
    return named


def ours_alone(number: int, settings: Settings) -> None:
    """Match in this process, to measure our memory."""
    ours(captions(number), settings, 1)


def main() -> None:
    """Race the matching, after checking that all name the same; time the worker on all captions, and alone on some."""
    classes = tuple(read_parameters(WORDS)["classes"])
    settings = Settings(classes, "strict", "rules", "none")
    texts = captions(CAPTIONS)
    few = texts[:PEER]
    sentences = [read_sentence(text) for text in few]
    pages = list(zip(sentences, chunk_by_rules(sentences), strict=True))
    rules = Rules(classes)
    mine = partial(matched, Matcher(classes), pages)
    popular, expert = by_spacy(rules, pages), partial(by_tree, rules, tree_of(rules), pages)
    expected = mine()
    for name, peer in (("spaCy", popular), ("a tree of words", expert)):
        differ = sum(one != other for one, other in zip(expected, peer(), strict=True))
        if differ:
            raise AssertionError(f"{differ} captions are matched otherwise by {name}")
    race = harness.race(
        mine,
        harness.Peer("spaCy's PhraseMatcher", popular),
        harness.Peer("a tree of words", expert),
        gigabytes=1e-9 * sum(map(len, few)),
        why=WHY,
    )
    named = ours(few, settings, 1)
    seconds = harness.once(partial(ours, texts, settings, 2))
    alone = harness.once(partial(ours, few, settings, 1))
    harness.write(
        "matching",
        {
            "captions": CAPTIONS,
            "classes": len(classes),
            "captions_a_second": CAPTIONS / seconds,
            "captions_a_second_alone": len(few) / alone,
            "races": {f"phrases of {len(few)} captions": race},
            "peak_mib": harness.peak_memory(ours_alone, PEER, settings),
            "peak_mib_ten_times_the_captions": harness.peak_memory(ours_alone, 10 * PEER, settings),
            "classes_named_a_caption": named / len(few),
            "versions": harness.versions("spacy"),
        },
    )


if __name__ == "__main__":
    main()
