"""Whether a named graph query writes, told from its text.

It must see which words are clauses: `SET` in a text, a comment or a quoted name is none. It refuses when in doubt, such
as for a procedure, and whoever runs a query still has to run it without the right to write.
"""

import re

_UNICODE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_MASKED = re.compile(
    r"""(?P<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|(?P<name>`(?:``|[^`])*`)|//[^\n\r]*|/\*.*?\*/""",
    re.DOTALL,
)
# After `.`, `:` and `$` stands the name of a property, a label or a parameter, before `:` the key of a map.
_WRITING = (
    re.compile(
        r"(?<![.:$\w])(?:CREATE|MERGE|SET|DELETE|DETACH|REMOVE|DROP|FOREACH|INSERT|LOAD\s+(?:CSV|FROM|EXTENSION)"
        r"|COPY|ATTACH|ALTER|EXPORT|IMPORT|INSTALL|CHECKPOINT)\b(?!\s*:)",
        re.IGNORECASE,
    ),
    re.compile(r"(?<![.:$\w])CALL\b(?!\s*(?:\([^()]*\)\s*)?\{)", re.IGNORECASE),  # a procedure
    re.compile(r";(?=\s*\S)"),  # a second statement
)
_PARAMETER = re.compile(r"\$(\w+)")


def writing_clauses(cypher: str) -> tuple[str, ...]:
    """The clauses of a query that write or may write, each once, in upper case."""
    # Some engines read `\u0027` as a quote before anything else, others only within a text.
    decoded = _UNICODE.sub(lambda match: chr(int(match[1], 16)), cypher)
    masked = [_MASKED.sub(_mask, text) for text in (cypher, decoded)]
    found = [clause for text in masked for pattern in _WRITING for clause in pattern.findall(text)]
    return tuple(dict.fromkeys(" ".join(clause.upper().split()) for clause in found))


def parameters_of(cypher: str) -> tuple[str, ...]:
    """The parameters that a query names, each once."""
    return tuple(dict.fromkeys(_PARAMETER.findall(_MASKED.sub(_mask, cypher))))


def _mask(match: re.Match[str]) -> str:
    if match["text"]:
        return "''"
    return "_" if match["name"] else " "
