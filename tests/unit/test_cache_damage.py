"""Damaged and forged caches are refused in a sentence, and never read beyond their ends."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from novikoff.data import DataError
from novikoff.data.chunks.cache import open_cache
from novikoff.data.chunks.footer import HEAD, TAIL
from tests.unit.test_cache import Blocks, dense_blocks, sparse_blocks, write


@pytest.mark.parametrize("blocks", [dense_blocks()[:2], sparse_blocks()[:2]], ids=["dense", "csr"])
def test_every_flipped_byte_is_noticed(blocks: Blocks, tmp_path: Path) -> None:
    path = tmp_path / "c.blocks"
    write(path, blocks, dropped=[2])
    sound = path.read_bytes()
    for at in range(len(sound)):
        path.write_bytes(sound[:at] + bytes([sound[at] ^ 0x11]) + sound[at + 1 :])
        with pytest.raises(DataError, match=r"c\.blocks is"):
            list(open_cache(path))


@pytest.mark.parametrize("blocks", [dense_blocks()[:2], sparse_blocks()[:2]], ids=["dense", "csr"])
def test_every_cut_is_noticed(blocks: Blocks, tmp_path: Path) -> None:
    path = tmp_path / "c.blocks"
    write(path, blocks)
    sound = path.read_bytes()
    for size in range(len(sound)):
        path.write_bytes(sound[:size])
        with pytest.raises(DataError, match=r"c\.blocks is (empty|not a block cache|cut off)"):
            list(open_cache(path))
    path.write_bytes(sound + b"\0")
    with pytest.raises(DataError, match="cut off"):
        open_cache(path)


def test_a_damaged_block_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.blocks"
    write(path, dense_blocks())
    content = bytearray(path.read_bytes())
    content[64 + 192 + 3] ^= 1  # a number in the second block
    path.write_bytes(content)
    blocks = iter(open_cache(path))
    next(blocks)
    with pytest.raises(DataError, match=r"c\.blocks is damaged in block 2 of 3: its bytes do not"):
        next(blocks)


Footer = dict[str, object]


def forge(path: Path, change: Callable[[Footer, bytearray], None]) -> None:
    """Change what a cache of one block says or holds, and make all checksums right again."""
    content = path.read_bytes()
    length = int.from_bytes(content[-TAIL + 32 : -TAIL + 40], "little")
    start = len(content) - TAIL - length
    said, body = json.loads(content[start : start + length]), bytearray(content[:start])
    before = json.dumps(said)
    change(said, body)
    if before == json.dumps(said):
        codes = len(body) - 64
        said["blocks"][0]["sha256"] = [
            hashlib.sha256(part).hexdigest() for part in (body[64:codes], body[codes:])
        ]
    changed = json.dumps(said).encode()
    seal = hashlib.sha256(changed).digest() + len(changed).to_bytes(8, "little")
    path.write_bytes(bytes(body) + changed + seal + HEAD[: TAIL - 40])


def put(at: int, value: float, kind: str) -> Callable[[Footer, bytearray], None]:
    def change(said: Footer, body: bytearray) -> None:
        raw = np.array([value], dtype=kind).tobytes()
        body[at : at + len(raw)] = raw

    return change


def _first(values: object) -> object:
    assert isinstance(values, list)
    return values[0]


def say(*path: str | int, value: object) -> Callable[[Footer, bytearray], None]:
    def change(said: Footer, body: bytearray) -> None:
        inner: object = said
        for step in path[:-1]:
            inner = inner[step] if isinstance(inner, dict) else _first(inner)
        assert isinstance(inner, dict)
        inner[path[-1]] = value

    return change


# One CSR block of 5 rows: 6 pointers at 64, indices at 128, values at 192, codes at the end.
@pytest.mark.parametrize(
    "change",
    [
        put(64, 1, "<i4"),
        put(64, -1, "<i4"),
        put(68, 2**31 - 1, "<i4"),
        put(72, -5, "<i4"),
        put(84, 2**31 - 1, "<i4"),
        put(84, 0, "<i4"),
        put(128, 3, "<i4"),
        put(128, -1, "<i4"),
        put(128, 2**31 - 1, "<i4"),
        put(136, 0, "<i4"),
        put(192, np.inf, "<f8"),
        put(192, np.nan, "<f8"),
        put(192, 1e300, "<f8"),
        put(-64, 2, "<i4"),
        put(-64, -1, "<i4"),
        say("blocks", 0, "offset", value=128),
        say("blocks", 0, "offset", value=-64),
        say("blocks", 0, "rows", value=6),
        say("blocks", 0, "rows", value=2**62),
        say("blocks", 0, "entries", value=2**40),
        say("blocks", 0, "entries", value=-1),
        say("blocks", 0, "entries", value=True),
        say("blocks", 0, "index", value=8),
        say("blocks", 0, "index", value=0),
        say("blocks", 0, "index", value=3),
        say("blocks", 0, "radius", value="0x1p-9"),
        say("blocks", 0, "radius", value="nan"),
        say("blocks", 0, "radius", value=1.0),
        say("blocks", 0, "longest", value=1),
        say("blocks", 0, "sha256", value=["x"]),
        say("blocks", value=[]),
        say("blocks", value=None),
        say("kind", value="dense"),
        say("kind", value="odd"),
        say("dtype", value="float32"),
        say("dtype", value="object"),
        say("width", value=2),
        say("width", value=2**31),
        say("width", value=0),
        say("rows", value=4),
        say("version", value=2),
        say("dropped", value=1),
        say("dropped", value=2**61),
        say("names", value=["a"]),
        say("notes", value="text"),
        say("label", value=1),
        say("source", value=[]),
        say("recipe", value={}),
        say("recipe", value=None),
        say("classes", "values", value=[4, -1]),
        say("classes", "values", value=[1, 1]),
        say("classes", "values", value=[1, 2**70]),
        say("classes", "values", value=[1, "a"]),
        say("classes", "values", value=[]),
        say("classes", "type", value="object"),
        say("classes", "type", value="float64"),
    ],
)
def test_a_forged_cache_is_refused(
    change: Callable[[Footer, bytearray], None], tmp_path: Path
) -> None:
    path = tmp_path / "c.blocks"
    write(path, sparse_blocks()[:1])
    forge(path, change)
    with pytest.raises(DataError, match=r"c\.blocks is"):
        list(open_cache(path))


def test_a_footer_that_is_no_object_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.blocks"
    for text in (b"[1]", b"{", b"null", b"[" * 100_000, b"\xff"):
        seal = hashlib.sha256(text).digest() + len(text).to_bytes(8, "little")
        path.write_bytes(HEAD + text + seal + HEAD[: TAIL - 40])
        with pytest.raises(DataError, match="no sound block cache"):
            open_cache(path)
