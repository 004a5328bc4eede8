"""Reads files as documents of collections: Markdown, plain text and PDF."""

from pathlib import Path
from typing import Any

from mnestic.memory.canonical import is_blank
from mnestic.memory.errors import ConfigurationError, InvalidInputError
from mnestic.memory.jobs.long_term.document_parts import NEXT_PAGE
from mnestic.starter.importers.text_files import check_file

_PDF = b"%PDF-"


def read_document(
    path: Path, *, document_id: str | None, metadata: dict[str, Any]
) -> dict[str, Any]:
    """A file as a document: by default its id is its name. Of a PDF each page begins with a form feed.

    Raises:
        InvalidInputError: the file cannot be read, or has no text.
        ConfigurationError: it is a PDF, and `mnestic[pdf]` is not installed.
    """
    source = str(path)
    if path.is_dir():
        raise InvalidInputError(what=source, why="is a folder; name a file of it")
    check_file(path, source)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error.strerror}") from error
    content = _read_pdf(path) if raw.startswith(_PDF) else _decode(raw, source)
    if is_blank(content):
        why = "has no text; a PDF of scanned pages needs text recognition first"
        raise InvalidInputError(what=source, why=why)
    return {
        "id": path.name if document_id is None else document_id,
        "content": content,
        "metadata": metadata,
        "source": source,
    }


def _decode(raw: bytes, source: str) -> str:
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        why = f"byte {error.start + 1} is not UTF-8; write it as UTF-8 text, Markdown or PDF"
        raise InvalidInputError(what=source, why=why) from error


def _read_pdf(path: Path) -> str:
    try:
        from pypdf import PdfReader  # noqa: PLC0415 - an extra
        from pypdf.errors import PyPdfError  # noqa: PLC0415 - likewise
    except ImportError as error:
        why = "reads no PDF without the package pypdf; install mnestic[pdf]"
        raise ConfigurationError(setting=str(path), why=why) from error
    try:
        pages = [page.extract_text() for page in PdfReader(path).pages]
    except (PyPdfError, OSError, ValueError) as error:
        raise InvalidInputError(
            what=str(path), why=f"is no PDF that can be read: {error}"
        ) from error
    return f"\n{NEXT_PAGE}".join(pages)
