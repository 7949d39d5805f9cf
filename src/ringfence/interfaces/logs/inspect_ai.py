"""Logs of inspect-ai: .eval archives and .json files. May touch core and the file."""

import io
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

from ringfence.core.errors import InputError, MissingExtraError, one_line
from ringfence.interfaces.logs.entries import Entry, json_of, member, metric_name, named, number_of
from ringfence.simulation.reading import opened

NAME = "inspect-ai"
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # as inspect-ai's own accuracy counts them
_ZSTANDARD = 93
_MOST_BYTES = 2**31
_DAMAGED = (zipfile.BadZipFile, struct.error, OSError, ValueError, RuntimeError)
_LOCAL_HEADER = struct.Struct("<26xHH")


def is_mine(document: Any) -> bool:
    """Tell whether a JSON document is a log of inspect-ai."""
    return isinstance(document, Mapping) and {"version", "status", "eval"} <= set(document)


def read_json_log(path: Path, document: Any) -> Iterator[Entry]:
    """Yield the answers of a .json log."""
    place = named(path)
    samples = member(document, "samples", list, place)
    for at, sample in enumerate(samples):
        yield _entry(document, sample, path, f"{place}: samples[{at}]")


def read_archive(path: Path) -> Iterator[Entry]:
    """Yield the answers of an .eval archive."""
    place = named(path)
    try:
        with opened(path, key="log", advice="Give an .eval file.") as file:
            archive = zipfile.ZipFile(file)
            names = archive.namelist()
            if "header.json" not in names:
                raise InputError(
                    f"{place} has no header.json: the evaluation did not finish. Finish it with: "
                    f"inspect eval-retry {path}"
                )
            header = json_of(_content(file, archive, "header.json"), f"{place}: header.json")
            for name in _in_order(names, header):
                if name.startswith("samples/") and name.endswith(".json"):
                    sample = json_of(_content(file, archive, name), f"{place}: {name}")
                    yield _entry(header, sample, path, f"{place}: {name}")
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(
            f"{place} is no .eval archive: {one_line(str(error))}. Copy it anew."
        ) from None


def _in_order(names: Sequence[str], header: Any) -> list[str]:
    """Return the members as the dataset has them; they were written as they were done."""
    about = header.get("eval") if isinstance(header, Mapping) else None
    dataset = about.get("dataset") if isinstance(about, Mapping) else None
    ids = dataset.get("sample_ids") if isinstance(dataset, Mapping) else None
    places = {f"samples/{one}": at for at, one in enumerate(ids if isinstance(ids, list) else [])}
    return sorted(names, key=lambda name: places.get(name.rpartition("_epoch_")[0], len(places)))


def _content(file: BinaryIO, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member of an archive; Zstandard, which inspect-ai uses, is new to Python."""
    info = archive.getinfo(name)
    if info.file_size > _MOST_BYTES:
        raise InputError(f"log: {name} has {info.file_size:,} bytes. Leave it out.")
    if info.compress_type != _ZSTANDARD:
        return archive.read(name)
    file.seek(info.header_offset)
    lengths = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(sum(lengths), io.SEEK_CUR)
    return _unpacked(file.read(info.compress_size), info.file_size)


def _unpacked(content: bytes, size: int) -> bytes:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("Reading an .eval log", "parquet") from None
    try:
        source = pa.BufferReader(content)
        return bytes(pa.CompressedInputStream(source, "zstd").read(size))
    except (OSError, pa.ArrowException) as error:
        raise zipfile.BadZipFile(str(error)) from None


def _entry(header: Any, sample: Any, path: Path, place: str) -> Entry:
    about = member(header, "eval", dict, named(path))
    model = member(about, "model", str, f"{named(path)}: eval")
    task = member(about, "task", str, f"{named(path)}: eval")
    item = member(sample, "id", (str, int), place)
    metrics = metrics_of(sample, place)
    setting = {
        **member(about, "model_generate_config", dict, place, default={}),
        **member(about, "model_args", dict, place, default={}),
        **member(about, "task_args_passed", dict, place, default={}),
    }
    content = f"{sample.get('input')!r} {sample.get('target')!r}"
    return Entry(model, str(item), metrics, place, task, content, setting)


def metrics_of(sample: Mapping[str, Any], place: str) -> dict[str, float]:
    """Return what scorers said of a sample, and what it took."""
    return _scores(sample, place) | _prices(sample)


def _scores(sample: Mapping[str, Any], place: str) -> dict[str, float]:
    """Return what scorers said; of a sample that ended in an error they say nothing."""
    found: dict[str, float] = {}
    for name, score in member(sample, "scores", dict, place, default={}).items():
        value = score.get("value") if isinstance(score, Mapping) else None
        parts = (
            {f"{name}_{key}": one for key, one in value.items()} if _is(value) else {name: value}
        )
        for key, one in parts.items():
            number = _GRADES.get(one) if isinstance(one, str) else None
            number = number_of(one) if number is None else number
            if number is not None:
                found[metric_name(key)] = number
    return found


def _is(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _prices(sample: Mapping[str, Any]) -> dict[str, float]:
    """Return what a sample took; of tokens those of all models that it called."""
    found: dict[str, float] = {}
    seconds = number_of(sample.get("working_time"))
    seconds = number_of(sample.get("total_time")) if seconds is None else seconds
    if seconds is not None:
        found["seconds"] = seconds
    usage = sample.get("model_usage")
    uses = [one for one in usage.values() if _is(one)] if _is(usage) else []
    if uses:
        read = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
        found["input_tokens"] = sum(number_of(one.get(key)) or 0.0 for one in uses for key in read)
        found["output_tokens"] = sum(number_of(one.get("output_tokens")) or 0.0 for one in uses)
        costs = [number_of(one.get("total_cost")) for one in uses]
        known = [cost for cost in costs if cost is not None]
        if len(known) == len(costs):
            found["price"] = sum(known)
    return found
