"""Syntax in CoNLL-U, aligned with the texts that it describes.

`# newdoc id = <text id>` begins a text. Tokens are found in the stored text one after the other (white space between
them is skipped; Unicode normal form and kind of space do not count), or where `TokenRange=start:end` in MISC says. The
words of a multi-word token (`3-4 du`) share its span. Empty nodes (`8.1`) do not belong to the tree and are counted.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import conllu

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import read_lines
from trivium.formats.framed_texts import Span, find_token, skip_blank

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
        BadInput: not CoNLL-U, a sentence before the first `# newdoc id`, an unknown text or one that stands twice, a
            token that is not in the text, text between or after tokens, ids that do not count from 1, an unknown
            universal part of speech, a head that is not a token, not exactly one root, a cycle; or no sentence.
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
        sentence = _Reader(texts[identifier], path, first).sentence(parsed, cursor)
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
    block: list[str] = []
    row = 0
    for row, line in read_lines(path):
        if line.strip():
            block.append(line.rstrip("\r\n"))
        elif block:
            yield row - len(block), block
            block = []
    if block:
        yield row - len(block) + 1, block


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


class _Reader:
    """Turns parsed rows into a sentence; `first` is the line of the first row in the file."""

    def __init__(self, text: str, path: Path, first: int) -> None:
        self.text, self.path, self.first = text, path, first

    def sentence(self, parsed: conllu.TokenList, cursor: int) -> Sentence:
        tokens: list[Token] = []
        lines: list[int] = []
        shared: tuple[int, Span] | None = None  # number of the last word of a multi-word token, and the token's span
        for line, row in enumerate(parsed, self.first):
            number = row["id"]
            if isinstance(number, tuple):
                if number[1] == "-":
                    span = self._find(row, cursor, line)
                    shared, cursor = (number[2], span), span.end
                continue
            if number != len(tokens) + 1:
                self._refuse("wrong token number", line, "ID", number, expected=str(len(tokens) + 1))
            if shared is not None and number <= shared[0]:
                span = shared[1]
            else:
                span = self._find(row, cursor, line)
                cursor = span.end
            if row["upos"] not in UPOS:
                self._refuse(f"unknown part of speech of {row['form']!r}", line, "UPOS", row["upos"], choices=UPOS)
            head = -1 if row["head"] is None else row["head"]
            relation = row["deprel"] or "_"
            tokens.append(Token(number, row["form"], row["lemma"] or "_", row["upos"], head, relation, span))
            lines.append(line)
        if not tokens:
            raise BadInput("sentence without words", file=self.path, row=self.first)
        self._check_tree(tokens, lines)
        return Sentence(tuple(tokens), Span(tokens[0].span.start, tokens[-1].span.end))

    def _find(self, row: conllu.Token, cursor: int, line: int) -> Span:
        stated = (row["misc"] or {}).get("TokenRange")
        try:
            return find_token(self.text, cursor, row["form"], stated)
        except ValueError as error:
            number = row["id"] if isinstance(row["id"], int) else "-".join(map(str, row["id"][::2]))
            problem = f"token {number} does not align with the text: {error}"
            raise BadInput(problem, file=self.path, row=line, field="FORM") from None

    def _check_tree(self, tokens: list[Token], lines: list[int]) -> None:
        roots = [token.id for token in tokens if token.head == 0]
        if len(roots) != 1:
            self._refuse("not exactly one root", lines[0], "HEAD", roots)
        for token, line in zip(tokens, lines, strict=True):
            if not 0 <= token.head <= len(tokens) or token.head == token.id:
                expected = f"another token, 0 to {len(tokens)}"
                self._refuse(f"no such head of token {token.form!r}", line, "HEAD", token.head, expected=expected)
        reaches_root = {0}
        for token, line in zip(tokens, lines, strict=True):
            way, at = dict[int, None](), token.id  # ids on the way from this token to the root
            while at not in reaches_root:
                if at in way:
                    self._refuse(f"heads form a cycle from {token.form!r} on", line, "HEAD", list(way))
                way[at] = None
                at = tokens[at - 1].head
            reaches_root.update(way)

    def _refuse(self, problem: str, line: int, field: str, got: object, **details: Any) -> NoReturn:
        raise BadInput(problem, file=self.path, row=line, field=field, got=got, **details)


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
