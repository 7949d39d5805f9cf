"""Chances in words, not more exactly than draws can tell them. Pure."""

NEARLY_SURE, NEARLY_NEVER = 0.999, 0.001  # what draws can tell


def percent(chance: float) -> str:
    """Return a chance in percent, and not more exactly than draws can tell."""
    if chance > NEARLY_SURE:
        return f"more than {100 * NEARLY_SURE:g}%"
    if chance < NEARLY_NEVER:
        return f"less than {100 * NEARLY_NEVER:g}%"
    return f"{100 * chance:.1f}%"
