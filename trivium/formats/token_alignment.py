"""Where the tokens of a text stand in it, found one after the other."""

import re
import unicodedata

from trivium.formats.framed_texts import Span, end_of, unify


def skip_blank(text: str, cursor: int) -> int:
    """Past white space and invisible characters (zero-width space, soft hyphen, byte order mark)."""
    while cursor < len(text) and (text[cursor].isspace() or unicodedata.category(text[cursor]) == "Cf"):
        cursor += 1
    return cursor


def find_token(text: str, cursor: int, form: str, stated: str | None = None) -> Span:
    """The stretch of the text that a token is.

    Unicode normal form and kind of space do not count; between tokens there may be white space only.

    Args:
        text: the whole stored text.
        cursor: end of the token before.
        form: the token as written in the syntax.
        stated: its place as `start:end`, where the syntax has one (`TokenRange`).

    Raises:
        ValueError: something else stands there; says what.
    """
    start = skip_blank(text, cursor)
    if stated is None:
        end = end_of(text, start, form)
        if end is None:
            raise ValueError(f"{form!r} does not stand at {start}, where the text has {text[start : start + 20]!r}")
        return Span(start, end)
    match = re.fullmatch(r"([0-9]{1,15}):([0-9]{1,15})", stated)
    if match is None:
        raise ValueError(f"TokenRange {stated!r} is not start:end")
    span = Span(int(match[1]), int(match[2]))
    if not cursor <= span.start <= start or unify(span.of(text)) != unify(form):
        raise ValueError(
            f"{form!r} does not stand at TokenRange {stated}, where the text has {span.of(text)!r}; "
            f"the next token begins at {start}: {text[start : start + 20]!r}"
        )
    return span
