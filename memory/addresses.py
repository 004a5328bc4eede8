"""How an address is shown to people and in logs: by what is known to be no secret, and nothing else.

Passwords, tokens and options may be anywhere in an address, so no rule can name them all; scheme, host, port, database
and user are what finds a mistake.
"""

import re
from urllib.parse import parse_qsl, urlencode

HIDDEN = "***"
_HOST = r"(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\]|(?:%2[Ff]|/)[A-Za-z0-9._%-]*)(?::\d*)?"
_HOSTS = rf"{_HOST}(?:,{_HOST})*"
_POSTGRES = re.compile(
    rf"(?P<scheme>postgres(?:ql)?(?:\+psycopg)?)://"
    rf"(?:(?P<user>[^:@/?#\s]*)(?P<password>:[^@/?#]*)?@)?(?P<hosts>{_HOSTS})"
    r"(?:/(?P<database>[^:@/?#\s]*))?(?:\?(?P<query>[^#]*))?"
)
_OTHER = re.compile(
    rf"(?P<scheme>[a-z][a-z0-9+.-]{{0,15}})://(?P<user>[^@/?#]*@)?(?P<hosts>{_HOST})"
    r"(?P<path>/(?:v\d{1,2}/?)?)?(?P<rest>.*)",
    re.DOTALL,
)
_BARE = re.compile(_HOST)
_QUERY = ("host", "hostaddr", "port", "user", "dbname", "sslmode")


def describe_url(url: str) -> str:
    """An address for people and logs: scheme, user, host, port and database; of others' paths `/v1`.

    What is not understood is hidden as a whole.
    """
    postgres = _POSTGRES.fullmatch(url)
    if postgres is not None:
        return _describe_postgres(postgres)
    other = _OTHER.fullmatch(url)
    if other is not None and not other["scheme"].startswith("postgres"):
        user, rest = (f"{HIDDEN}@" if other["user"] else ""), (HIDDEN if other["rest"] else "")
        return f"{other['scheme']}://{user}{other['hosts']}{other['path'] or ''}{rest}"
    return url if _BARE.fullmatch(url) else HIDDEN


def _describe_postgres(found: re.Match[str]) -> str:
    user = found["user"] or ""
    if found["password"]:
        user += f":{HIDDEN}"
    at = "@" if user or found["user"] is not None else ""
    database = "" if found["database"] is None else f"/{found['database']}"
    pairs = parse_qsl(found["query"] or "")
    shown = [
        (name, value) for name, value in pairs if name in _QUERY and not set(value) & set("?&@#")
    ]
    query = f"?{urlencode(shown, safe='/,:')}" if shown else ""
    return f"{found['scheme']}://{user}{at}{found['hosts']}{database}{query}"
