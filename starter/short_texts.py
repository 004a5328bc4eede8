"""Shortens a foreign text to one line that is safe to print."""

_LONGEST = 200  # characters of a cause or a reason


def shortened(text: str) -> str:
    """One printable line."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
