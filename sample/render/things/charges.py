"""Charges: the small figures on flags, shields and logos."""

from sample.render.canvas import Canvas, Colour, Point, cosine, sine

CHARGES = (
    "star",
    "disc",
    "crescent",
    "cross",
    "tower",
    "tree",
    "anchor",
    "fish",
    "bird",
    "lozenge",
    "sun",
    "crown",
    "key",
)


def star(x: float, y: float, radius: float, tips: int = 5, inner: float = 0.42) -> list[Point]:
    """The corners of a star that stands on two tips."""
    corners = []
    for corner in range(2 * tips):
        reach, degrees = radius * (inner if corner % 2 else 1), corner * 180 / tips - 90
        corners.append((x + reach * cosine(degrees), y + reach * sine(degrees)))
    return corners


def draw_charge(canvas: Canvas, charge: str, x: float, y: float, r: float, colour: Colour, ground: Colour) -> None:
    """Draw a charge of radius r around (x, y); `ground` shows through its openings."""
    match charge:
        case "star":
            canvas.polygon(star(x, y, r), colour)
        case "disc":
            canvas.ellipse(x, y, r * 0.8, r * 0.8, colour)
        case "crescent":
            canvas.ellipse(x, y, r * 0.9, r * 0.9, colour)
            canvas.ellipse(x + 0.3 * r, y, r * 0.72, r * 0.72, ground)
        case "cross":
            canvas.rectangle(x - 0.25 * r, y - r, x + 0.25 * r, y + r, colour)
            canvas.rectangle(x - r, y - 0.25 * r, x + r, y + 0.25 * r, colour)
        case "tower":
            canvas.rectangle(x - 0.5 * r, y - 0.6 * r, x + 0.5 * r, y + r, colour)
            for column in (-0.6, -0.15, 0.3):
                canvas.rectangle(x + column * r, y - r, x + (column + 0.3) * r, y - 0.5 * r, colour)
            canvas.rectangle(x - 0.18 * r, y + 0.35 * r, x + 0.18 * r, y + r, ground)
        case "tree":
            canvas.rectangle(x - 0.12 * r, y, x + 0.12 * r, y + r, colour)
            for dx, dy in ((-0.4, 0.0), (0.4, 0.0), (0.0, -0.45)):
                canvas.ellipse(x + dx * r, y + dy * r, 0.5 * r, 0.5 * r, colour)
        case "anchor":
            canvas.line([(x, y - 0.7 * r), (x, y + 0.9 * r)], colour, 0.2 * r)
            canvas.line([(x - 0.45 * r, y - 0.4 * r), (x + 0.45 * r, y - 0.4 * r)], colour, 0.2 * r)
            bow = [(x + 0.8 * r * cosine(t), y + 0.2 * r + 0.7 * r * sine(t)) for t in range(10, 171, 20)]
            canvas.line(bow, colour, 0.2 * r)
            canvas.ellipse(x, y - 0.8 * r, 0.2 * r, 0.2 * r, colour)
        case "fish":
            canvas.ellipse(x - 0.1 * r, y, 0.75 * r, 0.4 * r, colour)
            canvas.polygon([(x + 0.5 * r, y), (x + r, y - 0.45 * r), (x + r, y + 0.45 * r)], colour)
            canvas.ellipse(x - 0.5 * r, y - 0.1 * r, 0.08 * r, 0.08 * r, ground)
        case "bird":
            canvas.ellipse(x, y, 0.3 * r, 0.6 * r, colour)
            canvas.ellipse(x, y - 0.7 * r, 0.22 * r, 0.22 * r, colour)
            for side in (-1, 1):
                wing = [(0.1, -0.3), (1.0, -0.8), (0.9, -0.1), (0.7, 0.3), (0.2, 0.3)]
                canvas.polygon([(x + side * px * r, y + py * r) for px, py in wing], colour)
            canvas.polygon([(x - 0.35 * r, y + r), (x, y + 0.4 * r), (x + 0.35 * r, y + r)], colour)
        case "lozenge":
            canvas.polygon([(x, y - r), (x + 0.62 * r, y), (x, y + r), (x - 0.62 * r, y)], colour)
        case "sun":
            canvas.polygon(star(x, y, r, 12, 0.6), colour)
            canvas.ellipse(x, y, 0.42 * r, 0.42 * r, ground)
        case "crown":
            tips = [(-0.9, 0.6), (-1.0, -0.5), (-0.5, 0.05), (0, -0.7), (0.5, 0.05), (1.0, -0.5), (0.9, 0.6)]
            canvas.polygon([(x + px * r, y + py * r) for px, py in tips], colour)
        case _:
            canvas.ellipse(x, y - 0.55 * r, 0.42 * r, 0.42 * r, colour)
            canvas.ellipse(x, y - 0.55 * r, 0.2 * r, 0.2 * r, ground)
            canvas.rectangle(x - 0.1 * r, y - 0.2 * r, x + 0.1 * r, y + r, colour)
            canvas.rectangle(x, y + 0.5 * r, x + 0.4 * r, y + 0.75 * r, colour)
