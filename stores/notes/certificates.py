"""Whom a vault's server is taken for: its certificate is pinned, or signed by whom one trusts.

A plugin on somebody's machine signs its own certificate, and the usual answer to that, to check none, would give the
key and the notes' place to whoever listens there.
"""

import errno
import hashlib
import re
import socket
import ssl
from contextlib import suppress
from http.client import HTTPSConnection
from pathlib import Path

from mnestic.memory.errors import ConfigurationError

_SHA256 = re.compile(
    r"(?:sha-?256[ :=]*(?:fingerprint)?[ :=]*)?((?:[0-9a-f]{2}:?){31}[0-9a-f]{2})", re.IGNORECASE
)


class PinnedConnection(HTTPSConnection):
    """A connection to the server whose certificate it is; that is seen before anything is sent."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        fingerprint: str | None,
        context: ssl.SSLContext,
        timeout: float,
    ) -> None:
        super().__init__(host, port, context=context, timeout=timeout)
        self._fingerprint = fingerprint
        self._given_up = False

    def hang_up(self) -> None:
        """Ends what another thread waits for: nobody wants the answer any more, however slow it comes."""
        self._given_up = True
        open_socket = self.sock
        if open_socket is not None:
            with suppress(OSError):  # it has ended by itself
                open_socket.shutdown(socket.SHUT_RDWR)

    def connect(self) -> None:
        """Connects.

        Raises:
            ssl.SSLCertVerificationError: the certificate is another.
            OSError: nothing answers there, or it has been hung up.
        """
        super().connect()
        if self._given_up:
            self.close()
            raise ConnectionAbortedError(errno.ECONNABORTED, "it does not answer in time")
        if self._fingerprint is None:
            return
        found = hashlib.sha256(self.sock.getpeercert(binary_form=True) or b"").hexdigest()
        if found != self._fingerprint:
            self.close()
            why = f"its SHA-256 is {found}, and MNESTIC_OBSIDIAN_FINGERPRINT is another"
            raise ssl.SSLCertVerificationError(why)


def fingerprint_of(text: str) -> str:
    """A SHA-256 fingerprint as 64 digits, however it is written.

    Raises:
        ConfigurationError: it is none.
    """
    found = _SHA256.fullmatch(text.strip())
    if found is None:
        why = "is no SHA-256 of a certificate, which has 64 hexadecimal digits; `openssl x509 -sha256 -fingerprint -noout` tells it"
        raise ConfigurationError(setting="MNESTIC_OBSIDIAN_FINGERPRINT", why=why)
    return found[1].replace(":", "").lower()


def tls_context(ca_file: Path | None, *, is_pinned: bool) -> ssl.SSLContext:
    """What a server's certificate is held to beside its fingerprint: a signature of the file's, or the system's.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    if is_pinned and ca_file is None:  # the fingerprint alone says which certificate it is
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        why = f"{ca_file} holds no certificate that can be read: {error}"
        raise ConfigurationError(setting="MNESTIC_OBSIDIAN_CA_FILE", why=why) from error
