"""Files of backups that are encrypted with a key of the operator: AES-256-GCM, piece by piece.

Each file has a key of its own, derived from the operator's, a random salt and the file's name. A piece's nonce is its number, and
whether it is the last, so that no piece can be moved, left out or cut off.

Source: Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance" (STREAM), 2015.
"""

import io
import os
from typing import IO, Protocol, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_SALT_BYTES, _TAG_BYTES, _PIECE_BYTES = 16, 16, 1 << 20
_NUMBER_BYTES = 11  # of a nonce of 12


class Writable(Protocol):
    """Where bytes are written."""

    def write(self, data: bytes, /) -> int: ...  # noqa: D102


class SealedWriter:
    """Encrypts what is written in a block; its end writes the last piece, and leaves the file open."""

    def __init__(self, file: Writable, key: bytes, *, name: str) -> None:
        salt = os.urandom(_SALT_BYTES)
        self._file, self._cipher = file, _cipher(key, salt, name)
        self._number, self._buffer = 0, bytearray()
        file.write(salt)

    def write(self, data: bytes) -> int:
        """Writes on."""
        self._buffer += data
        while len(self._buffer) > _PIECE_BYTES:  # what is left may be the last piece
            self._seal(bytes(self._buffer[:_PIECE_BYTES]), is_last=False)
            del self._buffer[:_PIECE_BYTES]
        return len(data)

    def flush(self) -> None:
        """Nothing: what is no whole piece yet stays until the next."""

    def __enter__(self) -> Self:
        """Begins."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Writes the last piece, unless an error ends the block."""
        if kind is None:
            self._seal(bytes(self._buffer), is_last=True)

    def _seal(self, piece: bytes, *, is_last: bool) -> None:
        nonce = _nonce(self._number, is_last=is_last)
        self._file.write(self._cipher.encrypt(nonce, piece, None))
        self._number += 1


class SealedReader(io.RawIOBase):
    """Decrypts a file as it is read."""

    def __init__(self, file: IO[bytes], key: bytes, *, name: str) -> None:
        """Begins.

        Args:
            file: Opened at its beginning.
            key: The operator's.
            name: That of the file when it was written.
        """
        self._file, self._cipher = file, _cipher(key, file.read(_SALT_BYTES), name)
        self._number, self._piece, self._next = 0, b"", self._read_piece()

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: "bytearray | memoryview", /) -> int:  # type: ignore[override]
        """Reads on.

        Raises:
            OSError: it was encrypted with another key, or is not what was written.
        """
        if not self._piece and self._next is not None:
            self._piece = self._open_next()
        part, self._piece = self._piece[: len(buffer)], self._piece[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def _open_next(self) -> bytes:
        sealed, self._next = self._next, self._read_piece()
        assert sealed is not None
        nonce = _nonce(self._number, is_last=self._next is None)
        self._number += 1
        try:
            return self._cipher.decrypt(nonce, sealed, None)
        except InvalidTag:
            raise OSError(0, "it was encrypted with another key, or has changed since") from None

    def _read_piece(self) -> bytes | None:
        return self._file.read(_PIECE_BYTES + _TAG_BYTES) or None


def _cipher(key: bytes, salt: bytes, name: str) -> AESGCM:
    return AESGCM(HKDF(SHA256(), length=32, salt=salt, info=name.encode()).derive(key))


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(_NUMBER_BYTES, "big") + bytes([is_last])
