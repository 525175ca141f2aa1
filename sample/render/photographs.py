"""Entry point of the renderer: one photograph of one entity of any kind."""

from PIL import Image

from sample.render.difficulty import Difficulty
from sample.render.faces import faceless, portrait, shows_face
from sample.render.scenes import photograph
from sample.render.things import THINGS

KINDS: tuple[str, ...] = ("person", *THINGS)

# Identities of worlds are below this number, those of the stand-in encoders' training at or above it.
ENCODER_IDENTITIES = 10**9


def render(kind: str, identity: int, view: int, *, size: int, difficulty: Difficulty) -> Image.Image:
    """Draw one photograph of one entity.

    Args:
        kind: one of `KINDS`.
        identity: number that determines the entity's looks; people with an even one look like women (`is_woman`).
        view: 0 is the knowledge base's reference photograph, others are different photographs of the same entity.
        size: side of the square picture in pixels.
        difficulty: how much photographs differ.

    Returns:
        An RGB picture of `size` × `size` pixels.

    Raises:
        ValueError: unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r} (choices: {', '.join(KINDS)})")
    if kind != "person":
        return photograph(kind, identity, view, size=size, difficulty=difficulty)
    if not shows_face(identity, view, difficulty):
        return faceless(identity, view, size=size, difficulty=difficulty)
    return portrait(identity, view, size=size, difficulty=difficulty)[0]
