"""Who may come in: addresses, names, the token. Values and checks only.

May touch core's errors.
"""

import hashlib
import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass

from ringfence.core.errors import InputError

LEAST_TOKEN = 16
TOKEN_VARIABLE = "RINGFENCE_TOKEN"  # noqa: S105 - the name of a variable, not a token
COOKIE = "ringfence"
_NAME = re.compile(r"[\w.-]+|\[[0-9a-fA-F:.]+\]")
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Door:
    """How a server may be reached.

    `token` is what writes need, and pages too where `guards_pages`. `names` are the hosts that a
    request may have asked for, in lower case and without a port.
    """

    token: str
    names: frozenset[str]
    guards_pages: bool = False
    read_only: bool = False

    @classmethod
    def of(
        cls,
        host: str = "127.0.0.1",
        *,
        token: str | None = None,
        names: tuple[str, ...] = (),
        read_only: bool = False,
    ) -> "Door":
        """Return the door of an address; one that is not loopback needs a token of one's own."""
        loopback = is_loopback(host)
        if token is None and not loopback:
            raise InputError(
                f"host = {host!r} can be reached from other machines: it needs a token of your "
                f"own. Set {TOKEN_VARIABLE} to {LEAST_TOKEN} characters or more, or use "
                "--host 127.0.0.1."
            )
        if token is not None and (len(token) < LEAST_TOKEN or not _is_plain(token)):
            raise InputError(
                f"token = {'*' * min(len(token), 8)!r} must have at least {LEAST_TOKEN} letters, "
                "digits or other visible ASCII characters. Choose a longer one."
            )
        for name in names:
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"allow-host = {name!r} must be a name or an address. Leave the port out."
                )
        own = host if ":" not in host else f"[{host}]"
        known = {own, *names, *_LOOPBACK_NAMES}
        return cls(
            token=secrets.token_urlsafe(24) if token is None else token,
            names=frozenset(name.lower() for name in known),
            guards_pages=not loopback,
            read_only=read_only,
        )

    def knows_host(self, header: str) -> bool:
        """Tell whether a Host header names this server: another site's name may point here."""
        name, _, port = header.rpartition(":")
        if not port.isdecimal() or name.endswith(":") or not name:
            name = header
        if name.lower() in self.names:
            return True
        # Another site's name can be pointed here, an address cannot: whoever knows it is here.
        return self.guards_pages and _is_address(name)

    def is_token(self, text: str) -> bool:
        """Compare with the token in constant time."""
        return hmac.compare_digest(text.encode(), self.token.encode())

    @property
    def cookie(self) -> str:
        """What a browser remembers in place of the token, and from which it cannot be had."""
        return hmac.new(self.token.encode(), b"ringfence page", hashlib.sha256).hexdigest()

    def is_cookie(self, text: str) -> bool:
        """Compare with the cookie in constant time."""
        return hmac.compare_digest(text.encode(), self.cookie.encode())


def is_loopback(host: str) -> bool:
    """Tell whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _is_plain(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token
