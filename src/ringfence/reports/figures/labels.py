"""Where names go in a picture of points, so that they can be read: chosen before it is drawn. Pure.

Sizes are in the pixels of the drawn picture; a name's width is reckoned from its letters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ringfence.reports.figures.words import IN_LABEL, shortened

MOST_LABELS = 25
SIDES = ("upper right", "lower right", "upper left", "lower left")
MOST_TRIED = 75  # in a crowd only outliers would find room, and these matter least
_LETTER, _LINE = 6.2, 12.0  # of the labels' font, with some air
_ACROSS, _UP, _MARK = 6.0, 4.0, 5.0  # from a mark's centre to its label, and to its own edge

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Frame:
    """The part of the plane that is shown, and how large it is drawn."""

    left: float
    right: float
    bottom: float
    top: float
    width: float
    height: float

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return a point in pixels, from the left and from the top."""
        across = (x - self.left) / (self.right - self.left)
        up = (y - self.bottom) / (self.top - self.bottom)
        return across * self.width, (1.0 - up) * self.height


def labelled(
    rows: Sequence[dict[str, Any]], frame: Frame, avoid: Sequence[Box] = ()
) -> list[dict[str, Any]]:
    """Return the rows with `label` and `side`; the label is empty where there is no room.

    Rows come in order of importance and have x and y. A name is given the first side on which it
    stays inside, and clear of all marks and of the names before it; where it can be, clear of what
    it should `avoid` too. The first row is always named, and so is one that lies `beyond` the
    border, with where it is.
    """
    centres = [frame.place(row["x"], row["y"]) for row in rows]
    taken: list[Box] = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in centres]
    given = 0
    result = []
    for place, row in enumerate(rows):
        text = _text(row)
        side = ""
        must = place == 0 or bool(row.get("beyond"))
        if must or (given < MOST_LABELS and place < MOST_TRIED):
            others = taken[:place] + taken[place + 1 :]
            side = _free_side(centres[place], text, [*others, *avoid], frame)
            side = side or _free_side(centres[place], text, others, frame)
            if not side and must:  # whatever lies beneath
                side = _least_crowded(centres[place], text, others, frame)
        if side:
            given += 1
            taken.append(_box(centres[place], text, side))
        result.append({**row, "label": text if side else "", "side": side})
    return result


def _text(row: dict[str, Any]) -> str:
    name = shortened(row["name"], IN_LABEL)
    if row.get("beyond"):
        return f"{name}: {row['beyond']}"
    return name if row.get("phase") is None else f"{name}, phase {row['phase']}"


def _free_side(centre: tuple[float, float], text: str, others: Sequence[Box], frame: Frame) -> str:
    for side in SIDES:
        box = _box(centre, text, side)
        if _is_inside(box, frame) and not any(_overlap(box, other) for other in others):
            return side
    return ""


def _is_inside(box: Box, frame: Frame) -> bool:
    return box[0] >= 0.0 and box[1] >= 0.0 and box[2] <= frame.width and box[3] <= frame.height


def _least_crowded(
    centre: tuple[float, float], text: str, others: Sequence[Box], frame: Frame
) -> str:
    def crossed(side: str) -> tuple[bool, int]:
        box = _box(centre, text, side)
        return not _is_inside(box, frame), sum(_overlap(box, other) for other in others)

    return min(SIDES, key=crossed)


def _box(centre: tuple[float, float], text: str, side: str) -> Box:
    """Return the room of a name beside its mark: diagonally, clear of its own intervals."""
    x, y = centre
    wide = _LETTER * len(text)
    left = x + _ACROSS if side.endswith("right") else x - _ACROSS - wide
    top = y - _UP - _LINE if side.startswith("upper") else y + _UP
    return left, top, left + wide, top + _LINE


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def spread(wanted: Sequence[float], least: float, top: float, bottom: float) -> list[float]:
    """Return places as near as can be to the wanted ones, in their order, at least so far apart.

    Names that would touch form a block, centred on what its members want; blocks stay between `top`
    and `bottom`, where they fit. Places grow downwards, as pixels do.
    """
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    blocks: list[tuple[float, int]] = []  # where a block begins, and how many names it has
    for i in order:
        start, size = min(max(wanted[i], top), bottom), 1
        while blocks and blocks[-1][0] + blocks[-1][1] * least > start:
            before, members = blocks.pop()
            start = (before * members + (start - members * least) * size) / (members + size)
            size += members
            start = max(min(start, bottom - (size - 1) * least), top)
        blocks.append((start, size))
    places = [0.0] * len(wanted)
    spots = [start + k * least for start, size in blocks for k in range(size)]
    for i, spot in zip(order, spots, strict=True):
        places[i] = spot
    return places
