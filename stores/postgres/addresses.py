"""The address of a database, as psycopg takes it."""

import psycopg
from psycopg.conninfo import conninfo_to_dict

from mnestic.memory.errors import ConfigurationError


def libpq_url(url: str) -> str:
    """The address for psycopg of a `postgresql://` address.

    Raises:
        ConfigurationError: it is not an address of a Postgres database.
    """
    scheme, separator, rest = url.partition("://")
    known = separator and scheme in {"postgres", "postgresql", "postgresql+psycopg"}
    known = (
        known and rest.partition("?")[0].count("@") <= 1
    )  # else hosts would hold parts of a password
    address = f"postgresql://{rest}" if known else ""
    try:
        parsed = conninfo_to_dict(address)
        ports = str(parsed.get("port", "")).split(",")
        known = known and all(port.isdecimal() for port in ports if port)
    except psycopg.ProgrammingError:
        known = False
    if not known:
        raise ConfigurationError(
            setting="MNESTIC_DATABASE_URL",
            why="must look like postgresql://user:password@host:5432/database, "
            "with %, @, :, / and spaces of the password as %25, %40, %3A, %2F and %20",
        )
    return address
