"""Problems as a person sees them: a page, or a notice on the page that sent the request.

The status and the words are those of the API (`starter/http/problems.py`).
"""

from http import HTTPStatus

from fastapi import Request, Response

from mnestic.starter.http.pages.access import SIGN_IN, is_page
from mnestic.starter.http.pages.rendering import link, render, shown_page

_NOTICE = "#notice"  # the place in `frame.html` for what went wrong


def wants_page(request: Request) -> bool:
    """Whether a person is to read the answer."""
    return is_page(request.url.path)


def problem_page(request: Request, *, status: int, title: str, detail: str) -> Response:
    """The answer to a request that was refused or failed."""
    is_of_htmx = "HX-Request" in request.headers
    if status == HTTPStatus.UNAUTHORIZED:
        return _to_sign_in(request, is_of_htmx=is_of_htmx)
    if not is_of_htmx:
        return render(request, "problem.html", status=status, title=title, detail=detail)
    notice = render(request, "notice.html", status=status, title=title, detail=detail)
    notice.headers.update(
        {"HX-Retarget": _NOTICE, "HX-Reswap": "innerHTML", "HX-Push-Url": "false"}
    )
    return notice


def _to_sign_in(request: Request, *, is_of_htmx: bool) -> Response:
    """Leads to signing in, and from there back to the page that the person saw."""
    if "Last-Event-ID" in request.headers:  # a stream that goes on, whose answer is not processed
        return Response(status_code=HTTPStatus.UNAUTHORIZED)
    if is_of_htmx:
        to = link(SIGN_IN, then=shown_page(request))
        return Response(status_code=HTTPStatus.OK, headers={"HX-Redirect": to})
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    to = link(SIGN_IN, then=here if request.method == "GET" else None)
    return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": to})
