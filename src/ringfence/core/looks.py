"""When one looks whether an answer is proven: often at first, then when there is a hundredth more.

A proof holds whenever one looks. To look seldom costs some pulls and nothing else. Plain functions.
"""

PART = 64  # looks between two doublings of the pulls, and pulls up to which one looks at each


def is_due(last: int, now: int) -> bool:
    """Tell whether a look is due by so many pulls, where the last decision saw fewer."""
    return looks(now) > looks(last)


def looks(pulls: int) -> int:
    """Return how many looks are due by so many pulls: evenly spread between two doublings."""
    if pulls <= PART:
        return pulls
    size, doublings = PART, 0
    while 2 * size <= pulls:
        size *= 2
        doublings += 1
    return PART * (doublings + 1) + (pulls - size) // (size // PART)
