"""What goes wrong, in words: every error gives the name, the value, the rule and the remedy.

Touches nothing.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class RingfenceError(Exception):
    """Any error that ringfence raises on purpose."""


class InputError(RingfenceError, ValueError):
    """The caller gave something that cannot be used; nothing was changed."""


class ExpressionError(InputError):
    """An objective or constraint cannot be read; the message points at the character."""

    def __init__(self, what: str, text: str, position: int) -> None:
        """Keep the reason, the text and the offending position beside the drawn message."""
        self.what = what
        self.text = text
        self.position = position
        super().__init__(f"{what}\n    {text}\n    {' ' * position}^")


class EstimateError(InputError):
    """An attribute cannot be computed from an arm's pulls; nothing was lost."""

    def __init__(self, attribute: object, arm: str | None, what: str, remedy: str) -> None:
        """Keep the arm and the attribute beside the message."""
        self.attribute = attribute
        self.arm = arm
        place = "" if arm is None else f" of arm {arm!r}"
        super().__init__(f"{attribute}{place}: {what}. {remedy}")


class NameTakenError(InputError):
    """A study of that name exists already."""


class MissingStudyError(InputError):
    """No study of that name is there."""


class ShapeError(InputError):
    """An observation lacks a metric, or holds something else than numbers."""


class ToldOtherwiseError(InputError):
    """A pull was told other values before; the first ones stay."""


class LeaseError(InputError):
    """A pull was issued again since: what an old lease has to say of it comes too late."""


class StorageError(RingfenceError):
    """A database cannot be reached, read or written; what was acknowledged is safe."""


class StorageAwayError(StorageError):
    """A database server is away for now: the same call may be made again later."""


class DamagedError(StorageError):
    """What was stored cannot be read any more; nothing was changed."""

    def __init__(self, what: str) -> None:
        """Keep what is damaged beside the remedy."""
        self.what = what
        super().__init__(f"{what}. Restore the database from a backup.")


class NoAnswerError(RingfenceError):
    """A study has no arm to judge: nothing was told yet, or all its arms have left."""


class OutageError(RingfenceError):
    """Evaluations fail whatever the arm, for too long; what failed was given back uncharged."""

    def __init__(self, what: str, minutes: float) -> None:
        """Keep what happened and for how long it was waited beside the remedy."""
        self.what = what
        self.minutes = minutes
        waited = f", and no evaluation succeeded within {minutes:g} minutes" if minutes > 0 else ""
        super().__init__(
            f"{what}{waited}. These failures are not charged, and no arm is withdrawn for them. "
            "Once evaluations work again, run the same study again: it goes on where it was."
        )


class InfeasibleWarning(UserWarning):
    """No option seems to respect the limits; the nearest one is named all the same."""


class IgnoredWarning(UserWarning):
    """Something that was told beside the metrics of a study was not recorded."""


class MissingExtraError(RingfenceError, ImportError):
    """An optional library is needed for what was asked; the message names the extra."""

    def __init__(self, what: str, extra: str) -> None:
        """Say what was asked for and how to install what it needs."""
        super().__init__(
            f"{what} needs libraries that are not installed. "
            f"Install them with: pip install 'ringfence[{extra}]'"
        )


def one_line(text: str, most: int = 200) -> str:
    """Return a text on one line: of several its first and its last, which say the most."""
    plain = "".join(one if one.isprintable() or one in "\r\n" else " " for one in text)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    whole = " ... ".join(dict.fromkeys(lines[:1] + lines[-1:]))
    return whole if len(whole) <= most else f"{whole[: most // 2]} ... {whole[-most // 2 :]}"


def one_of(key: str, value: object, options: Iterable[str]) -> InputError:
    """Return the error for a name that is not among the options, with the nearest one."""
    known = list(options)
    return InputError(
        f"{key} = {value!r} must be one of {', '.join(known)}.{nearest(value, known)}"
    )


def nearest(value: object, options: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the closest option, or nothing.

    Neither case nor the kind of dash counts: `Top_Two` is as near to `top-two` as can be.
    """
    close = closest(value, options)
    return "" if close is None else f" Did you mean {close!r}?"


def closest(value: object, options: Iterable[str]) -> str | None:
    """Return the option that a name was probably meant to be, if there is one."""
    folded: dict[str, str] = {}
    for option in options:
        folded.setdefault(_folded(option), option)
    close = get_close_matches(_folded(str(value)), folded, n=1)
    return folded[close[0]] if close else None


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")
