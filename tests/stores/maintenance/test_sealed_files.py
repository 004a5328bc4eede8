"""Encrypted files of backups: what was written is read, and nothing that was changed."""

import io

import pytest

from mnestic.stores.postgres.maintenance.sealed_files import SealedReader, SealedWriter

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
PIECE = 1 << 20
SEALED = PIECE + 16  # with its tag
SALT = 16


def sealed(content: bytes) -> bytes:
    file = io.BytesIO()
    with SealedWriter(file, KEY, name="backup/entry") as writer:
        for start in range(0, len(content), 700_001):
            writer.write(content[start : start + 700_001])
    return file.getvalue()


def read(stored: bytes, *, key: bytes = KEY, name: str = "backup/entry") -> bytes:
    return io.BufferedReader(SealedReader(io.BytesIO(stored), key, name=name)).read()


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 5])
def test_what_was_written_is_read(size: int) -> None:
    content = bytes(number % 251 for number in range(size))

    stored = sealed(content)

    assert read(stored) == content
    assert stored != sealed(content)  # each file has a salt of its own


STORED = sealed(bytes(2 * PIECE + 5))
FIRST, SECOND = STORED[SALT : SALT + SEALED], STORED[SALT + SEALED : SALT + 2 * SEALED]
CHANGED = {
    "flipped": STORED[:-1] + bytes([STORED[-1] ^ 1]),
    "cut after a piece": STORED[: SALT + SEALED],
    "cut within a piece": STORED[:-1],
    "swapped": STORED[:SALT] + SECOND + FIRST + STORED[SALT + 2 * SEALED :],
    "without a piece": STORED[:SALT] + SECOND + STORED[SALT + 2 * SEALED :],
    "longer": STORED + b"0",
}


@pytest.mark.parametrize("stored", CHANGED.values(), ids=CHANGED.keys())
def test_what_was_changed_is_refused(stored: bytes) -> None:
    with pytest.raises(OSError, match="has changed since"):
        read(stored)


def test_a_file_of_another_key_or_name_is_refused() -> None:
    with pytest.raises(OSError, match="another key"):
        read(STORED, key=OTHER_KEY)
    with pytest.raises(OSError, match="another key"):
        read(STORED, name="backup/fact")
