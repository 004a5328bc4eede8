"""The files of a vault, none of which is outside of it.

This is what keeps a note that somebody else has put into the vault from showing the rest of the disk: each part of a
path is opened below the last one, and no link is followed.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from mnestic.memory.errors import InvalidInputError

SUFFIX = ".md"
LARGEST_BYTES = 1_048_576
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe holds nobody up


@contextmanager
def opened_vault(folder: Path) -> Iterator[int]:
    """The vault's folder, open for as long as a block.

    Raises:
        OSError: it is not there, is no folder, or may not be read.
    """
    root = os.open(folder, _FOLDER)
    try:
        yield root
    finally:
        os.close(root)


def iter_files(root: int) -> Iterator[tuple[str, os.stat_result]]:
    """The notes of a vault by their paths, without hidden files and folders such as `.obsidian`."""
    for place, folders, names, here in os.fwalk(".", dir_fd=root, follow_symlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            if not name.endswith(SUFFIX) or name.startswith("."):
                continue
            try:
                found = os.stat(name, dir_fd=here, follow_symlinks=False)
            except OSError:  # removed meanwhile
                continue
            if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_BYTES:
                yield str(PurePosixPath(place) / name), found


def note_path(name: str) -> str:
    """The path of a note that was named, with its ending, written as the vault's own paths are."""
    return str(PurePosixPath(name if name.endswith(SUFFIX) else name + SUFFIX))


def parts_of(path: str) -> tuple[str, ...]:
    """The parts of a note's path.

    Raises:
        InvalidInputError: it leads out of the vault, or to what is hidden in it.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise InvalidInputError(what=path, why="is no path inside the vault")
    if any(part.startswith(".") for part in parts):
        raise InvalidInputError(what=path, why="is hidden, and so no note of the vault")
    return parts


def read_file(root: int, path: str) -> str:
    """The text of a note.

    Raises:
        InvalidInputError: it is not there or not in the vault, is no text, or too large; says which.
    """
    parts = parts_of(path)
    folder = os.dup(root)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return _text(os.open(parts[-1], _FILE, dir_fd=folder), path)
    except FileNotFoundError:
        raise InvalidInputError(what=path, why="is not in the vault") from None
    except (OSError, ValueError) as error:  # a link raises ELOOP or ENOTDIR
        why = getattr(error, "strerror", None) or str(error)
        raise InvalidInputError(
            what=path, why=f"is no file of the vault itself ({why}); links are not followed"
        ) from None
    finally:
        os.close(folder)


def _text(file: int, path: str) -> str:
    with os.fdopen(file, "rb") as opened:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise InvalidInputError(what=path, why="is no file")
        content = opened.read(LARGEST_BYTES + 1)
    return decoded(content, path)


def decoded(content: bytes, path: str) -> str:
    """The text that a note's bytes are.

    Raises:
        InvalidInputError: they are too many, or no text.
    """
    if len(content) > LARGEST_BYTES:
        raise InvalidInputError(what=path, why=f"has more than {LARGEST_BYTES} bytes")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise InvalidInputError(what=path, why="is no text in UTF-8") from None
    if "\0" in text:
        raise InvalidInputError(what=path, why="is no text, it holds a NUL")
    return text
