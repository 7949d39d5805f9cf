"""The words of an expression: numbers, names, quoted texts and signs, each with its place.

Touches its arguments only.
"""

import re
from typing import NamedTuple, NoReturn

from ringfence.core.errors import ExpressionError, InputError

_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP"}

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<percentile>p\d+(?:\.\d+)?(?=\s*\())
      | (?P<name>[^\W\d]\w*)
      | (?P<quoted>'[^']*'|"[^"]*")
      | (?P<sign><=|>=|==|=<|=>|!=|[<>=≤≥(),*/%+-])
    )""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """One word or sign of an expression, and where it stands."""

    kind: str
    text: str
    position: int


class Words:
    """The words of one expression, taken from left to right; a failure points at a character."""

    def __init__(self, text: str) -> None:
        """Cut a text into words; a character that belongs to none is refused."""
        if not isinstance(text, str):
            raise InputError(f"expression = {text!r} must be text, such as 'mean(cost)'. Write it.")
        self.text = text
        self.tokens = self._split()
        self.next = 0

    def _split(self) -> list[Token]:
        tokens, position = [], 0
        end = len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None or match.lastgroup is None:
                start = position + len(self.text[position:]) - len(self.text[position:].lstrip())
                found = self.text[start]
                why = "this quote is never closed" if found in "'\"" else f"cannot read {found!r}"
                if unit := _CURRENCIES.get(found):
                    why += f'. Write: 0.5 {unit}, and units = {{ x = "{unit}" }}'
                raise ExpressionError(why, self.text, start)
            kind = match.lastgroup
            tokens.append(Token(kind, match.group(kind), match.start(kind)))
            position = match.end()
        tokens.append(Token("end", "", end))
        return tokens

    def fail(self, what: str, token: Token) -> NoReturn:
        """Refuse the expression at a word."""
        raise ExpressionError(what, self.text, token.position)

    def take(self, kind: str, wanted: str, *, exactly: str | None = None) -> Token:
        """Return the next word, which must be of this kind."""
        token = self.tokens[self.next]
        if token.kind != kind or (exactly is not None and token.text != exactly):
            got = "the end" if token.kind == "end" else repr(token.text)
            self.fail(f"expected {wanted}, got {got}", token)
        self.next += 1
        return token

    def end(self) -> None:
        """Refuse whatever follows."""
        token = self.tokens[self.next]
        if token.kind != "end":
            what = f"nothing may follow here, got {token.text!r}"
            if token.text in ("and", "or", "&", ","):
                what += (
                    ": each limit is a text of its own. Write: constraints = "
                    '["mean(x) <= 1", "mean(y) <= 2"]'
                )
            elif token.text in ("<=", ">=", "<", ">"):
                what += '. Write two limits: constraints = ["mean(x) >= 1", "mean(x) <= 2"]'
            self.fail(what, token)
