"""Who may open a page: the browser sends the API key as a cookie, and only pages read it.

A cookie, unlike a header, comes along with requests that another site makes: the cookie is never sent from there
(`SameSite=Strict`), and a write must come from a page of this server.
"""

from fastapi import Request, Response
from starlette.datastructures import MutableHeaders

from mnestic.memory.access.errors import ForbiddenError, UnauthenticatedError

ROOT = "/ui"
SIGN_IN = f"{ROOT}/sign-in"
STATIC = f"{ROOT}/static"
REFERENCE = "/docs"
# What a person may type, and where it leads; this needs no key, and says nothing of anybody.
SHORTCUTS = {"/": ROOT, "/memory": f"{ROOT}/memory", "/costs": f"{ROOT}/costs"}
_SAFE = frozenset({"GET", "HEAD"})
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def is_page(path: str) -> bool:
    """Whether a path is one of the page."""
    return path == ROOT or path.startswith(f"{ROOT}/")


def needs_key(path: str) -> bool:
    """Whether a path of the page needs a key: all but signing in and what is the same for everybody."""
    return path != SIGN_IN and not path.startswith(f"{STATIC}/")


def key_text_of(request: Request) -> str:
    """The key in a request for a page.

    Raises:
        UnauthenticatedError: there is none.
    """
    text = request.cookies.get(_cookie_of(request))
    if not text:
        raise UnauthenticatedError(why="is missing; sign in")
    return text


def check_origin(request: Request) -> None:
    """Refuses a write that no page of this server sends.

    Raises:
        ForbiddenError: it comes from elsewhere, or does not say where it comes from.
    """
    if request.method in _SAFE:
        return
    site = request.headers.get("Sec-Fetch-Site")
    own = f"{request.url.scheme}://{request.headers.get('Host', '')}"
    is_own = request.headers.get("Origin") == own if site is None else site == "same-origin"
    if not is_own:
        raise ForbiddenError(what="this request", why="it does not come from a page of this server")


def set_headers(headers: MutableHeaders, path: str) -> None:
    """Sets what a browser may do with a page: load nothing from elsewhere, and store nothing that needs a key."""
    headers.update(_HEADERS)
    headers["Cache-Control"] = "no-store" if needs_key(path) else "no-cache"


def remember_key(request: Request, response: Response, text: str) -> None:
    """Has the browser send the key with requests for pages, until it is closed."""
    is_secure = request.url.scheme == "https"
    response.set_cookie(
        _cookie_of(request), text, path=ROOT, httponly=True, samesite="strict", secure=is_secure
    )


def forget_key(request: Request, response: Response) -> None:
    """Has the browser send no key any more."""
    response.delete_cookie(_cookie_of(request), path=ROOT, httponly=True, samesite="strict")


def _cookie_of(request: Request) -> str:
    """The name of the cookie: with the server's port, since a browser shares cookies among the ports of a host."""
    port = request.headers.get("Host", "").rpartition(":")[2]
    return f"mnestic_key_{port}" if port.isdecimal() else "mnestic_key"
