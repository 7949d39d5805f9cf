"""What users give as blocks: items, shared seeds or hours, checked once at the door.

Every error has key, value, rule and remedy. May touch core, study's facts, and the file of items.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError, nearest, one_line, one_of
from ringfence.core.strict import read_json
from ringfence.simulation.reading import opened
from ringfence.study.items import hash_of

MOST_ITEMS = 1_000_000
SCOPES = ("such", "these")
_WAYS = ("items", "seeds", "every")
_OF_ITEMS = ("scope", "repeats", "group", "evaluation")
_DETERMINISTIC = "deterministic"
_TIME = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST_SECONDS = 1e9
_LONGEST_LINE = 4 * 2**20


@dataclass(frozen=True)
class Blocks:
    """What pulls of different arms share: the `plain` part of a definition, and its items.

    Items that are their numbers are not kept, and neither are those of a study that has them.
    """

    plain: Mapping[str, Any]
    items: Sequence[Any] = ()


NO_BLOCKS = Blocks({})


def blocks_of(given: Any, folder: Path) -> Blocks:
    """Return blocks that are well formed; a path of items is seen from the folder."""
    if isinstance(given, Blocks):
        return given
    if not isinstance(given, Mapping):
        raise InputError(f"blocks = {given!r} must be a table. Write {{'items': 500}}.")
    for key in given:
        if key not in (*_WAYS, *_OF_ITEMS):
            known = (*_WAYS, *_OF_ITEMS)
            raise InputError(
                f"blocks.{key} is unknown. Use {', '.join(known)}.{nearest(key, known)}"
            )
    said = {key: value for key, value in given.items() if value is not None}
    ways = [key for key in _WAYS if key in said]
    if len(ways) != 1:
        raise InputError(
            f"blocks must have exactly one of items, seeds and every, and has "
            f"{' and '.join(ways) or 'none of them'}. Write one, such as items = 500."
        )
    if ways == ["items"]:
        return _of_items(said, folder)
    for key in _OF_ITEMS:
        if key in said:
            raise InputError(
                f"blocks.{key} = {said[key]!r} is about items, and blocks has {ways[0]}. Leave it "
                "out."
            )
    if ways == ["every"]:
        return Blocks({"every": seconds_of("blocks.every", said["every"])})
    if said["seeds"] is not True:
        raise InputError(
            f"blocks.seeds = {said['seeds']!r} must be true. Write it, or leave [blocks] out."
        )
    return Blocks({"seeds": True})


def kept_items(kept: Mapping[str, Any], said: Mapping[str, Any]) -> Blocks:
    """Return the items that a study keeps, with what is said beside them now."""
    items = {key: kept[key] for key in ("items", "hash", "groups") if key in kept}
    others = {key: value for key, value in said.items() if value is not None}
    return Blocks({"scope": SCOPES[0], "repeats": 1, **others, **items})


def seconds_of(key: str, text: Any) -> int | float:
    """Return a time such as "30m" in seconds."""
    found = _TIME.fullmatch(text) if isinstance(text, str) else None
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0.0 < seconds <= _LONGEST_SECONDS:
        raise InputError(
            f"{key} = {text!r} must be a time: a number and s, m, h or d. Write it so, such as "
            "every = '30m', '1h' or '1d'."
        )
    return int(seconds) if seconds.is_integer() else seconds


def _of_items(said: Mapping[str, Any], folder: Path) -> Blocks:
    """Return items, with how they are shared."""
    scope, group = said.get("scope", SCOPES[0]), said.get("group")
    if scope not in SCOPES:
        raise one_of("blocks.scope", scope, SCOPES)
    repeats = said.get("repeats", 1)
    if not _is_whole(repeats) or repeats < 1:
        raise InputError(
            f"blocks.repeats = {repeats!r} must be a whole number, 1 or more: how often an arm may "
            "be told of an item. Write 1."
        )
    plain = {"scope": scope, "repeats": int(repeats)}
    if "evaluation" in said:
        if said["evaluation"] != _DETERMINISTIC:
            raise one_of("blocks.evaluation", said["evaluation"], [_DETERMINISTIC])
        if repeats > 1:
            raise InputError(
                f"blocks.repeats = {repeats} must be 1 with evaluation = 'deterministic': an item "
                "answered twice gives the same. Leave one of them out."
            )
        plain["evaluation"] = _DETERMINISTIC
    count = said["items"]
    if _is_whole(count):
        if not 1 <= count <= MOST_ITEMS:
            raise InputError(f"blocks.items = {count} must be 1 to {MOST_ITEMS:,}. Write 500.")
        if group is not None:
            raise _no_keys(group)
        return Blocks({"items": int(count), **plain})
    named, items = _listed(count, folder)
    if not items:
        raise InputError(f"{named('')} has no items. Write them, a JSON object a line.")
    if len(items) > MOST_ITEMS:
        raise InputError(f"{named('')} has more than {MOST_ITEMS:,} items. Leave some out.")
    if group is not None:
        items, sizes = _grouped(items, group, named)
        plain |= {"group": group, "groups": sizes}
    else:
        _require_each_once(items, named)
    return Blocks({"items": len(items), **plain, "hash": hash_of(items)}, items)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


_Named = Callable[[Any], str]


def _listed(given: Any, folder: Path) -> tuple[_Named, list[Any]]:
    """Return items in their order, and how errors call one of them by its place."""
    if isinstance(given, str | Path):
        path = folder / given
        found = list(_read(path))
        lines, items = [line for line, _ in found], [item for _, item in found]
        shown = f"blocks.items = {str(path)!r}"
        return lambda place: f"{shown}: line {lines[place]}" if place != "" else shown, items
    if isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(
            f"blocks.items = {one_line(repr(given))} must be a file, a number or a list. Write one."
        )
    items = list(given)
    for place, item in enumerate(items):
        if not _is_item(item):
            raise InputError(
                f"blocks.items: item {place} = {one_line(repr(item))} must be an object, a text or "
                "a number that JSON can hold. Change it."
            )
    items = [dict(item) if isinstance(item, Mapping) else item for item in items]
    return lambda place: f"blocks.items: item {place}" if place != "" else "blocks.items", items


def _is_item(item: Any) -> bool:
    if not isinstance(item, Mapping | str | int | float) or isinstance(item, bool):
        return False
    plain = dict(item) if isinstance(item, Mapping) else item
    try:
        return bool(json.loads(json.dumps(plain, allow_nan=False)) == plain)
    except (TypeError, ValueError, RecursionError):
        return False


def _read(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the objects of a file with the numbers of their lines; empty lines are none."""
    key, advice = "blocks.items", "Give a file with a JSON object a line."
    try:
        file = opened(path, key=key, advice=advice)
    except FileNotFoundError:
        raise InputError(f"{key} = {str(path)!r} does not exist. {advice}") from None
    with file:
        number = 0
        while content := file.readline(_LONGEST_LINE + 1):
            number += 1
            if text := content.strip().removeprefix(b"\xef\xbb\xbf"):
                yield number, _object(text, f"{key} = {str(path)!r}: line {number}")


def _object(content: bytes, what: str) -> Any:
    if len(content) > _LONGEST_LINE:
        raise InputError(f"{what} has more than {_LONGEST_LINE:,} bytes. Shorten it.")
    try:
        found = read_json(content)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    except ValueError:
        found = None
    if not isinstance(found, dict) or not _is_item(found):
        shown = one_line(content.decode("utf-8", "replace"), 60)
        raise InputError(
            f"{what} is {shown!r}, and no JSON object. Write an object a line, such as "
            '{"question": "What is 2 + 2?"}.'
        )
    return found


def _require_each_once(items: Sequence[Any], named: _Named) -> None:
    """Refuse items that are alike: they would count as two, and tell as much as one."""
    places = dict[str, int]()
    for place, item in enumerate(items):
        first = places.setdefault(json.dumps(item, sort_keys=True), place)
        if first != place:
            raise InputError(
                f"{named(place)} is the same item as {named(first).rsplit(': ', 1)[-1]}. Leave one "
                "out; what may be asked more than once is what repeats = 2 is for."
            )


def _grouped(items: Sequence[Any], group: Any, named: _Named) -> tuple[list[Any], list[int]]:
    """Return items with those of a group beside each other, and the sizes of the groups."""
    members: dict[str, list[Any]] = {}
    if not isinstance(group, str):
        raise InputError(f"blocks.group = {group!r} must be a key of the items. Put it in quotes.")
    for place, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise _no_keys(group)
        if group not in item or not isinstance(item[group], str | int | float):
            raise InputError(
                f"blocks.group = {group!r} must be a key of every item, with a text or a number: "
                f"{named(place)} has {', '.join(item) or 'no key'}. Add it.{nearest(group, item)}"
            )
        members.setdefault(json.dumps(item[group]), []).append(item)
    together = [item for mine in members.values() for item in mine]
    return together, [len(mine) for mine in members.values()]


def _no_keys(group: Any) -> InputError:
    return InputError(
        f"blocks.group = {group!r} must be a key of the items, and these have none. Leave it out, "
        "or give items as objects."
    )
