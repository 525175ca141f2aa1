"""The syntax of the evaluation texts: read from CoNLL-U, or parsed by stanza or spaCy (complexity.md §4, f4)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from stages.complexity.corpus.conllu import Sentence, load_conllu, write_conllu
from stages.complexity.corpus.corpora import read_texts
from stages.measures.attachment import PlacedWord, attachment_scores
from stages.stage import BadInput, Context, Parameters, run_stage

PARSERS = ("conllu", "stanza", "spacy")
TEXTS = "frames/test.jsonl"
GOLD = "syntax.conllu"


class SyntaxParameters(Parameters):
    """Section `complexity.syntax`."""

    parser: Literal["conllu", "stanza", "spacy"] = Field(
        description="conllu: the gold syntax that comes with the texts; else who parses them"
    )
    stanza_folder: str = Field(min_length=1, description="Folder of stanza's models, as stanza.download fills it")
    stanza_package: str = Field(min_length=1, description="Which of stanza's French models, such as default or gsd")
    spacy_model: str = Field(min_length=1, description="Name of an installed spaCy pipeline, or its folder")
    batch: int = Field(ge=1, description="Texts parsed together")


def parse_texts(texts: Mapping[str, str], parameters: SyntaxParameters) -> dict[str, list[Sentence]]:
    """The sentences of each text by stanza or spaCy.

    Raises:
        BadInput: its models are not there.
    """
    listed = list(texts.values())
    if parameters.parser == "stanza":
        from stages.complexity.parsers.syntax_stanza import load_stanza, parse_stanza

        pipeline = load_stanza(Path(parameters.stanza_folder), parameters.stanza_package)
        found = [
            sentences
            for first in range(0, len(listed), parameters.batch)
            for sentences in parse_stanza(pipeline, listed[first : first + parameters.batch])
        ]
    else:
        from stages.complexity.parsers.syntax_spacy import load_spacy, parse_spacy

        found = parse_spacy(load_spacy(parameters.spacy_model), listed, parameters.batch)
    return dict(zip(texts, found, strict=True))


def placed_words(syntax: Mapping[str, Sequence[Sentence]]) -> list[PlacedWord]:
    """Words by text, span, and number among the words of that span (those of a multi-word token share it)."""
    words = []
    for identifier, sentences in syntax.items():
        for sentence in sentences:
            seen: Counter[tuple[int, int]] = Counter()
            places = {}
            for token in sentence.tokens:
                span = (token.span.start, token.span.end)
                places[token.id] = (identifier, *span, seen[span])
                seen[span] += 1
            words += [
                PlacedWord(places[token.id], places.get(token.head), token.relation, token.part_of_speech, token.lemma)
                for token in sentence.tokens
            ]
    return words


def main(parameters: SyntaxParameters, context: Context, *, calor: Path, out: Path) -> dict[str, float]:
    """Write the syntax of `calor`/frames/test.jsonl; a parser's is compared to `calor`/syntax.conllu if there.

    Metrics: `parser_*` says which was used; `words_f1`, `uas`, `las`, `upos`, `lemmas` are the agreement with the gold.
    """
    del context
    texts = {text.id: text.text for text in read_texts(calor / TEXTS)}
    path = calor / GOLD
    gold = load_conllu(path, texts) if path.exists() else None
    metrics = {f"parser_{name}": float(name == parameters.parser) for name in PARSERS}
    if parameters.parser != "conllu":
        syntax = parse_texts(texts, parameters)
        if gold is not None:
            metrics |= attachment_scores(placed_words(syntax), placed_words(gold.sentences))
    elif gold is not None:
        syntax = gold.sentences
        metrics["empty_nodes"] = float(gold.empty_nodes)
    else:
        raise BadInput("no gold syntax", file=path, expected="CoNLL-U, or complexity.syntax.parser: stanza or spacy")
    if without := [identifier for identifier in texts if not syntax.get(identifier)]:
        raise BadInput("texts without syntax", file=path if gold else calor / TEXTS, got=without[0])
    write_conllu(out, syntax, texts)
    sentences = [sentence for of_text in syntax.values() for sentence in of_text]
    words = sum(len(sentence.tokens) for sentence in sentences)
    return metrics | {"texts": float(len(texts)), "sentences": float(len(sentences)), "words": float(words)}


if __name__ == "__main__":
    run_stage(main, "complexity.syntax", SyntaxParameters)
