"""An Obsidian vault by the plugin Local REST API, over HTTPS.

Source: the plugin's description of its API, `docs/openapi.yaml` of coddingtonbear/obsidian-local-rest-api.
"""

import asyncio
import json
import re
import ssl
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from http.client import HTTPException
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, SecretStr, TypeAdapter

from mnestic.memory.addresses import describe_url
from mnestic.memory.canonical import storable
from mnestic.memory.errors import ConfigurationError, InvalidInputError, NotesUnavailableError
from mnestic.memory.retrieval.notes import (
    Note,
    NoteResults,
    NoteSelection,
    SkippedNote,
    check_path,
    excerpt,
    select_notes,
)
from mnestic.stores.notes.certificates import PinnedConnection, fingerprint_of, tls_context
from mnestic.stores.notes.markdown import text_of
from mnestic.stores.notes.vault_files import (
    LARGEST_BYTES,
    SUFFIX,
    decoded,
    note_path,
    parts_of,
)

_TIMEOUT = timedelta(seconds=1)
_READERS = 4  # at once
_LARGEST_ANSWER = 4 * LARGEST_BYTES
_OK, _NOT_FOUND = 200, 404
_HTTPS = 443
_NO_KEY = frozenset({401, 403})
_CHUNK = 65_536  # bytes
_ANY: Mapping[str, str] = MappingProxyType({"Accept": "*/*"})


class _Hit(BaseModel):
    """A note that a search found; `result` is what the query gave for it: when it changed, in ms."""

    filename: str
    result: float


_HITS = TypeAdapter(list[_Hit])


class RestVault:
    """Implements `mnestic.memory.retrieval.ports.NoteSource`."""

    def __init__(
        self,
        url: str,
        *,
        api_key: SecretStr | None,
        fingerprint: str | None = None,
        ca_file: Path | None = None,
        timeout: timedelta = _TIMEOUT,
    ) -> None:
        """Prepares; each reading connects.

        Args:
            url: `https://HOST:PORT`.
            api_key: As the plugin shows it.
            fingerprint: SHA-256 of the server's certificate; no other is taken, whoever signed it.
            ca_file: PEM of who has to have signed it. Without both, somebody whom the system trusts.
            timeout: How long the server may be silent.

        Raises:
            ConfigurationError: the address is none of HTTPS, or the fingerprint or the file is none.
        """
        self._url, (self._host, self._port) = url, _address(url)
        self._fingerprint = None if fingerprint is None else fingerprint_of(fingerprint)
        self._context = tls_context(ca_file, is_pinned=fingerprint is not None)
        self._timeout_s = timeout.total_seconds()
        self._key = api_key
        secret = "" if api_key is None else api_key.get_secret_value()
        if not secret.isascii() or not secret.isprintable():
            why = "has characters that no key has"
            raise ConfigurationError(setting="MNESTIC_OBSIDIAN_API_KEY", why=why)
        self._threads = ThreadPoolExecutor(_READERS, thread_name_prefix="vault")

    async def read(self, select: NoteSelection) -> NoteResults:
        """See the port."""
        connection = PinnedConnection(
            self._host,
            self._port,
            fingerprint=self._fingerprint,
            context=self._context,
            timeout=self._timeout_s,
        )
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._read, connection, select)
        finally:
            connection.hang_up()

    def _read(self, connection: PinnedConnection, select: NoteSelection) -> NoteResults:
        try:
            with closing(connection):
                return _Reading(connection, key=self._key).read(select)
        except ssl.SSLCertVerificationError as error:
            why = f"its certificate is not trusted: {error.strerror or error}"
            if self._fingerprint is None:
                why += "; set MNESTIC_OBSIDIAN_FINGERPRINT or MNESTIC_OBSIDIAN_CA_FILE"
            raise NotesUnavailableError(where=describe_url(self._url), why=why) from error
        except (OSError, HTTPException) as error:
            why = str(error) or type(error).__name__
            raise NotesUnavailableError(where=describe_url(self._url), why=why) from error


class _Reading:
    """What is read by one connection."""

    def __init__(self, connection: PinnedConnection, *, key: SecretStr | None) -> None:
        self._connection, self._key = connection, key

    def read(self, select: NoteSelection) -> NoteResults:
        tagged = self._tagged(select.tag) if select.tag else []
        chosen, left_out = select_notes([note_path(name) for name in select.paths], tagged)
        notes: list[Note] = []
        skipped: list[SkippedNote] = []
        for path in chosen:
            try:
                check_path(path)
                notes.append(Note(path=path, content=excerpt(text_of(self._note(path)))))
            except InvalidInputError as error:
                skipped.append(SkippedNote(path=storable(path), why=error.why))
        return NoteResults(notes=tuple(notes), skipped=(*skipped, *left_out))

    def _tagged(self, tag: str) -> list[str]:
        """The paths of the notes with a tag, those that changed last first."""
        name = "".join(_any_case(char) for char in tag.removeprefix("#"))
        has_tag = {"regexp": [f"^#?{name}(/|$)", {"var": ""}]}
        query = {"if": [{"some": [{"var": "tags"}, has_tag]}, {"var": "stat.mtime"}, False]}
        kind = {"Content-Type": "application/vnd.olrapi.jsonlogic+json"}
        status, answer = self._ask("POST", "/search/", body=json.dumps(query).encode(), kind=kind)
        if status != _OK:
            raise HTTPException(f"its search answers {status}")
        try:
            # A name may hold half of a surrogate pair, for which pydantic's parser refuses the whole.
            hits = _HITS.validate_python(json.loads(answer))
        except (ValueError, RecursionError):
            raise HTTPException("its search answers in another form than the plugin's") from None
        newest = sorted(hits, key=lambda hit: (-hit.result, hit.filename))
        return [hit.filename for hit in newest if hit.filename.endswith(SUFFIX)]

    def _note(self, path: str) -> str:
        parts_of(path)
        status, answer = self._ask("GET", f"/vault/{quote(path)}")
        if status == _NOT_FOUND:
            raise InvalidInputError(what=path, why="is not in the vault")
        if status != _OK:
            raise InvalidInputError(what=path, why=f"is not told: the server answers {status}")
        return decoded(answer, path)

    def _ask(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        kind: Mapping[str, str] = _ANY,
    ) -> tuple[int, bytes]:
        """Status and body of an answer, of which no more is read than may be.

        Raises:
            HTTPException: it is too large, or refuses the key.
            OSError: the server does not answer, or nobody waits for it any more.
        """
        key = {"Authorization": f"Bearer {self._key.get_secret_value()}"} if self._key else {}
        self._connection.request(method, path, body=body, headers={**kind, **key})
        content = b""
        with self._connection.getresponse() as answer:
            while chunk := answer.read1(_CHUNK):
                content += chunk
                if len(content) > _LARGEST_ANSWER:
                    raise HTTPException(f"it answers with more than {_LARGEST_ANSWER} bytes")
        if answer.status in _NO_KEY:
            raise HTTPException("it refuses the key; correct MNESTIC_OBSIDIAN_API_KEY")
        return answer.status, content


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port or _HTTPS
    except ValueError:
        host, port = None, 0
    if parts.scheme != "https" or not host:
        why = f"is {describe_url(url)}; it begins with https://, such as https://127.0.0.1:27124"
        raise ConfigurationError(setting="MNESTIC_OBSIDIAN_URL", why=why)
    return host, port


def _any_case(char: str) -> str:
    """What finds a character of a tag in capitals or not; JavaScript's flag for that cannot be given."""
    small, large = re.escape(char.lower()), re.escape(char.upper())
    return small if small == large else f"[{small}{large}]"
