"""Questions as a reader sees them: image, best passages with their pictures, answer, right or wrong."""

import base64
import io
import re
from collections.abc import Sequence

from markupsafe import Markup, escape
from PIL import Image, ImageOps

from stages.measures.answers import normalize_answer


def thumbnail(data: bytes, side: int) -> str | None:
    """A `data:` address of the image, cut to a square of `side` pixels, or None when it cannot be read."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            small = ImageOps.fit(ImageOps.exif_transpose(image).convert("RGB"), (side, side))
    except Exception:  # Pillow's decoders raise almost anything on broken files
        return None
    out = io.BytesIO()
    small.save(out, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def highlight(text: str, answers: Sequence[str]) -> Markup:
    """The text, escaped, with every answer that stands in it verbatim (case aside) marked."""
    wanted = sorted((answer for answer in answers if normalize_answer(answer)), key=len, reverse=True)
    if not wanted:
        return escape(text)
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, wanted)) + r")(?!\w)", re.IGNORECASE)
    pieces = pattern.split(text)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )
