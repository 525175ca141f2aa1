"""Syntax in CoNLL-U, aligned with the texts that it describes.

`# newdoc id = <text id>` begins a text. Tokens are found in the stored text one after the other (white space between
them is skipped; Unicode normal form and kind of space do not count), or where `TokenRange=start:end` in MISC says. The
words of a multi-word token (`3-4 du`) share its span. Empty nodes (`8.1`) do not belong to the tree and are counted.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import conllu

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import read_lines
from trivium.formats.framed_texts import Span, find_token, skip_blank
from trivium.formats.json_fields import Field

UPOS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)


@dataclass(frozen=True)
class Token:
    """A syntactic word: `id` counts from 1 in its sentence, `head` is the id of another word, or 0 for the root."""

    id: int
    form: str
    lemma: str
    part_of_speech: str
    head: int
    relation: str
    span: Span


@dataclass(frozen=True)
class Sentence:
    """A dependency tree over a stretch of a text."""

    tokens: tuple[Token, ...]
    span: Span


@dataclass(frozen=True)
class Syntax:
    """The content of a file: sentences by text id, and the number of empty nodes, which were left out."""

    sentences: dict[str, list[Sentence]]
    empty_nodes: int


def read_conllu(path: Path, texts: Mapping[str, str]) -> Syntax:
    """Read the syntax of texts by id; a text that the file lacks has no entry.

    Raises:
        BadInput: a sentence before the first `# newdoc id`, an unknown text or one that stands twice, tokens that do
            not cover the text, ids that do not count from 1, an unknown universal part of speech, or no tree.
    """
    sentences: dict[str, list[Sentence]] = {}
    empty_nodes, identifier, cursor = 0, None, 0
    for line, block in _blocks(path):
        parsed = _parse(block, path, line)
        if "newdoc id" in parsed.metadata:
            _require_end(texts, identifier, cursor, path, line)
            identifier, cursor = parsed.metadata["newdoc id"], 0
            if identifier not in texts or identifier in sentences:
                problem = "no such text" if identifier not in texts else "text twice"
                raise BadInput(problem, file=path, row=line, field="newdoc id", got=identifier)
            sentences[identifier] = []
        if identifier is None:
            raise BadInput("sentence of no text", file=path, row=line, expected="# newdoc id = <id of a text>")
        first = line + sum(row.startswith("#") for row in block)
        empty_nodes += sum(isinstance(token["id"], tuple) and token["id"][1] == "." for token in parsed)
        sentence = _read_sentence(parsed, texts[identifier], cursor, path, first)
        sentences[identifier].append(sentence)
        cursor = sentence.span.end
    if not sentences:
        raise BadInput("no sentences", file=path, expected="CoNLL-U")
    _require_end(texts, identifier, cursor, path, None)
    return Syntax(sentences, empty_nodes)


def write_conllu(path: Path, sentences: Mapping[str, list[Sentence]], texts: Mapping[str, str]) -> None:
    """Write the syntax of texts by id; neighbouring words with the same span become a multi-word token."""
    with write_atomically(path) as target, target.open("w", encoding="utf-8") as out:
        for identifier, of_text in sentences.items():
            for number, sentence in enumerate(of_text, 1):
                if number == 1:
                    out.write(f"# newdoc id = {identifier}\n")
                out.write(f"# sent_id = {identifier}-{number}\n")
                out.write(f"# text = {' '.join(sentence.span.of(texts[identifier]).split())}\n")
                out.writelines(line + "\n" for line in _lines(sentence, texts[identifier]))
                out.write("\n")


def _blocks(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each sentence as (line of the file where it begins, its lines)."""
    for is_blank, group in groupby(read_lines(path), key=lambda row_and_line: not row_and_line[1].strip()):
        if not is_blank:
            rows, lines = zip(*group, strict=True)
            yield rows[0], [line.rstrip("\r\n") for line in lines]


def _parse(block: list[str], path: Path, line: int) -> conllu.TokenList:
    for row, columns in enumerate((text.split("\t") for text in block), line):
        if columns[0].startswith("#"):
            continue
        if len(columns) != 10:
            raise BadInput("wrong number of columns", file=path, row=row, got=len(columns), expected="10 (CoNLL-U)")
        if not columns[0].strip() or not columns[-1].strip():  # the library strips lines, and columns with them
            raise BadInput("empty column", file=path, row=row, got=columns, expected="_ for an unknown value")
    try:
        (parsed,) = conllu.parse("\n".join(block) + "\n\n")
    except (conllu.exceptions.ParseException, ValueError) as error:
        raise BadInput(f"not CoNLL-U: {str(error).partition(chr(10))[0]}", file=path, row=line) from None
    return parsed


def _require_end(texts: Mapping[str, str], identifier: str | None, cursor: int, path: Path, line: int | None) -> None:
    if identifier is not None and skip_blank(texts[identifier], cursor) < len(texts[identifier]):
        rest = texts[identifier][cursor:].strip()
        raise BadInput(f"text {identifier!r} continues after its last token", file=path, row=line, got=rest)


def _read_sentence(parsed: conllu.TokenList, text: str, cursor: int, path: Path, first: int) -> Sentence:
    """Read parsed rows, the first of which stands in line `first`, behind `cursor` in their text."""
    tokens: list[Token] = []
    lines: list[int] = []
    last, shared = 0, Span(0, 0)  # of a multi-word token: the number of its last word, and its span
    for line, row in enumerate(parsed, first):
        number, is_range = row["id"], isinstance(row["id"], tuple)
        if is_range and number[1] != "-":
            continue  # an empty node
        if not is_range and number != len(tokens) + 1:
            Field(number, path, line, "ID").refuse("wrong token number", expected=str(len(tokens) + 1))
        if is_range or number > last:
            span = _find(row, text, cursor, path, line)
            cursor = span.end
        else:
            span = shared
        if is_range:
            last, shared = number[2], span
            continue
        if row["upos"] not in UPOS:
            problem = f"unknown part of speech of {row['form']!r}"
            Field(row["upos"], path, line, "UPOS").refuse(problem, choices=UPOS)
        head = -1 if row["head"] is None else row["head"]
        tokens.append(Token(number, row["form"], row["lemma"] or "_", row["upos"], head, row["deprel"] or "_", span))
        lines.append(line)
    if not tokens:
        raise BadInput("sentence without words", file=path, row=first)
    _check_tree(tokens, path, lines)
    return Sentence(tuple(tokens), Span(tokens[0].span.start, tokens[-1].span.end))


def _find(row: conllu.Token, text: str, cursor: int, path: Path, line: int) -> Span:
    try:
        return find_token(text, cursor, row["form"], (row["misc"] or {}).get("TokenRange"))
    except ValueError as error:
        number = row["id"] if isinstance(row["id"], int) else "-".join(map(str, row["id"][::2]))
        problem = f"token {number} does not align with the text: {error}"
        raise BadInput(problem, file=path, row=line, field="FORM") from None


def _check_tree(tokens: list[Token], path: Path, lines: list[int]) -> None:
    roots = [token.id for token in tokens if token.head == 0]
    if len(roots) != 1:
        Field(roots, path, lines[0], "HEAD").refuse("not exactly one root")
    for token, line in zip(tokens, lines, strict=True):
        if not 0 <= token.head <= len(tokens) or token.head == token.id:
            expected = f"another token, 0 to {len(tokens)}"
            Field(token.head, path, line, "HEAD").refuse(f"no such head of token {token.form!r}", expected=expected)
    reaches_root = {0}
    for token, line in zip(tokens, lines, strict=True):
        way, at = dict[int, None](), token.id  # ids on the way from this token to the root
        while at not in reaches_root:
            if at in way:
                Field(list(way), path, line, "HEAD").refuse(f"heads form a cycle from {token.form!r} on")
            way[at] = None
            at = tokens[at - 1].head
        reaches_root.update(way)


def _lines(sentence: Sentence, text: str) -> Iterator[str]:
    tokens = sentence.tokens
    for number, token in enumerate(tokens):
        end = token.span.end
        misc = f"TokenRange={token.span.start}:{end}"
        if end < len(text) and not text[end].isspace():
            misc = f"SpaceAfter=No|{misc}"
        together = sum(other.span == token.span for other in tokens)
        if together > 1 and (number == 0 or tokens[number - 1].span != token.span):
            form = _cell(token.span.of(text))
            yield "\t".join((f"{token.id}-{token.id + together - 1}", form, *"_" * 7, misc))
        word = (str(token.id), _cell(token.form), _cell(token.lemma), token.part_of_speech, "_", "_", str(token.head))
        yield "\t".join((*word, token.relation, "_", "_" if together > 1 else misc))


def _cell(value: str) -> str:
    """Replace tabs and line breaks, which a cell may not hold, by spaces."""
    return re.sub(r"[\t\r\n ]+", " ", value)
