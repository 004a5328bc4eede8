"""Reading a YAML document that is to be JSON: text, numbers, lists and objects, and nothing else.

YAML can say much that JSON cannot, and small documents can unfold to large ones; here each of that is refused by its
line.
"""

import errno
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import InvalidInputError, InvalidPlanError

LARGEST_BYTES = 524_288
MOST_VALUES = 20_000  # of a document, with its aliases followed
DEEPEST = 60  # levels; a node of a plan is a few below the top, and JSON has 64 in all
_TOO_DEEP = f"it is nested too deep, at most {DEEPEST} levels are allowed"
_TOO_MANY = f"it comes to over {MOST_VALUES} values with its aliases followed"
_LONGEST_NUMBER = 1_300  # characters; 4,096 bits have 1,234 digits
_LONGEST_SHOWN = 60  # characters of a value that is wrong
_PLAIN = tuple(
    f"tag:yaml.org,2002:{name}"
    for name in ["null", "bool", "int", "float", "str", "seq", "map", "merge"]
)


Lines = dict[tuple[str | int, ...], int]


class YamlDocument(NamedTuple):
    """A document's values, and the tree that they were read from, with its lines."""

    root: yaml.Node
    data: Any


class _Loader(yaml.CSafeLoader):
    """YAML 1.2's plain scalars: `on` is a word, and a date is text."""


def read_document(path: Path) -> str:
    """Reads the text of a document from a file.

    Raises:
        InvalidPlanError: the file cannot be read, or is too large.
    """
    try:
        if not path.is_file():
            no_file = (
                errno.EISDIR if path.is_dir() else errno.EINVAL if path.exists() else errno.ENOENT
            )
            why = os.strerror(no_file)
            raise InvalidPlanError(source=str(path), problems=(why,))
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
        text = content[:LARGEST_BYTES].decode("utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InvalidPlanError(source=str(path), problems=(why,)) from None
    if len(content) > LARGEST_BYTES:
        why = f"it is larger than {LARGEST_BYTES} bytes"
        raise InvalidPlanError(source=str(path), problems=(why,))
    return text


def lines_of(root: yaml.Node) -> Lines:
    """The first line of each path in a document."""
    return dict(_lines(root))


def read_yaml(text: str, *, source: str) -> YamlDocument:
    """Reads a document; `source` names it in errors.

    Raises:
        InvalidPlanError: it is no YAML, or holds what JSON cannot; names the lines and what is allowed.
    """
    try:
        return _read(text)
    except InvalidPlanError as error:  # its problems have lines only
        raise InvalidPlanError(source=source, problems=error.problems) from None


def _read(text: str) -> YamlDocument:
    content = text.encode("utf-8", "surrogatepass")
    if len(content) > LARGEST_BYTES:
        raise _refusal(f"it is larger than {LARGEST_BYTES} bytes", line=1)
    try:
        _check_events(content)
        loader = _Loader(content)
        root = loader.get_single_node()
        if root is None:
            raise _refusal("it is empty", line=1)
        _check_size(root)
        problems = tuple(_problems(root))
        if problems:
            raise InvalidPlanError(source="", problems=problems)
        return YamlDocument(root, loader.construct_document(root))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        parts = (error.context, error.problem) if _is_second(error) else (error.problem,)
        why = ", ".join(part for part in parts if part)
        raise _refusal(why, line=mark.line + 1 if mark else 1) from None
    except yaml.reader.ReaderError as error:
        line = content.count(b"\n", 0, error.position) + 1
        raise _refusal(f"unacceptable character {_named(error.character)}", line=line) from None


def _lines(
    node: yaml.Node, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """The first line of each path in the document."""
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _lines(value, (*path, key.value))
            yield (*path, key.value), key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _lines(item, (*path, index))


def _is_second(error: yaml.MarkedYAMLError) -> bool:
    """Whether the error is about a second document, which YAML describes in two parts."""
    return isinstance(error, yaml.composer.ComposerError) and "another document" in str(
        error.problem
    )


def _named(character: Any) -> str:
    return f"U+{character if isinstance(character, int) else ord(character):04X}"


def _check_events(content: bytes) -> None:
    """Refuses what is too large or nested too deep before a tree is made of it, which takes ten times as long.

    Raises:
        InvalidPlanError: says where.
    """
    values = levels = 0
    for event in yaml.parse(content, Loader=_Loader):
        is_collection = isinstance(event, yaml.CollectionStartEvent)
        values += isinstance(event, yaml.NodeEvent)
        levels += is_collection - isinstance(event, yaml.CollectionEndEvent)
        if levels > DEEPEST:
            raise _refusal(_TOO_DEEP, line=_line(event))
        if values > MOST_VALUES:
            raise _refusal(_TOO_MANY, line=_line(event))


def _check_size(root: yaml.Node) -> None:
    """Refuses what unfolds to too much; each part of a document is looked at once.

    Raises:
        InvalidPlanError: says where.
    """
    sizes: dict[int, tuple[int, int]] = {}  # of a node: values and levels; 0 while inside of it

    def measure(node: yaml.Node) -> tuple[int, int]:
        known = sizes.get(id(node))
        if known is not None:
            if known == (0, 0):
                raise _refusal("it refers to itself", line=_line(node))
            return known
        sizes[id(node)] = (0, 0)
        inside = [measure(part) for part in _parts(node)]
        size = 1 + sum(values for values, _ in inside)
        levels = max((level for _, level in inside), default=0) + (1 if inside else 0)
        if levels > DEEPEST:
            raise _refusal(_TOO_DEEP, line=_line(node))
        if size > MOST_VALUES:
            raise _refusal(_TOO_MANY, line=_line(node))
        sizes[id(node)] = (size, levels)
        return size, levels

    measure(root)


def _parts(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from (key, value)
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _problems(root: yaml.Node) -> Iterator[str]:
    """The values that JSON does not have; each part is checked once."""
    seen: set[int] = set()
    ahead = [root]
    while ahead:
        node = ahead.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.tag not in _PLAIN:
            why = f"the tag {node.tag.replace('tag:yaml.org,2002:', '!!')} is not allowed; write text, numbers, lists and objects"
            yield _at(_line(node), why)
        if isinstance(node, yaml.ScalarNode):
            yield from _problems_of_scalar(node)
        if isinstance(node, yaml.MappingNode):
            yield from _problems_of_keys(node)
        ahead.extend(reversed(list(_parts(node))))


def _problems_of_scalar(node: yaml.ScalarNode) -> Iterator[str]:
    is_number = node.tag.endswith((":int", ":float"))
    if is_number and len(node.value) > _LONGEST_NUMBER:
        why = f"a number has {len(node.value)} characters, at most {_LONGEST_NUMBER} are allowed"
        yield _at(_line(node), why)
        return
    try:
        check_json(node.value, what="text")
    except InvalidInputError as error:
        yield _at(_line(node), f"a text {error.why}")


def _problems_of_keys(node: yaml.MappingNode) -> Iterator[str]:
    names: set[str] = set()
    for key, _ in node.value:
        if key.tag.endswith(":merge"):
            continue
        if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
            shown = _shown(key.value) if isinstance(key, yaml.ScalarNode) else "a list or an object"
            why = f"the key {shown} is not text; put it in quotes"
            yield _at(_line(key), why)
        elif key.value in names:
            yield _at(_line(key), f"{_shown(key.value)} is there twice")
        else:
            names.add(key.value)


def _refusal(why: str, *, line: int) -> InvalidPlanError:
    return InvalidPlanError(source="", problems=(_at(line, why),))


def _at(line: int, why: str) -> str:
    return f"line {line}: {why}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def _line(part: yaml.Node | yaml.Event) -> int:
    assert part.start_mark is not None
    line: int = part.start_mark.line
    return line + 1


def _checked(construct: Callable[[Any, Any], Any]) -> Callable[[Any, yaml.ScalarNode], Any]:
    """A constructor of scalars that refuses, with the line, a value that does not fit its tag."""

    def checked(loader: _Loader, node: yaml.ScalarNode) -> Any:
        try:
            value = construct(loader, node)
        except (ValueError, LookupError, OverflowError):
            kind = node.tag.rpartition(":")[2]
            raise _refusal(f"{_shown(node.value)} is no {kind}", line=_line(node)) from None
        try:
            check_json(value, what="number")
        except InvalidInputError as error:
            shown = _shown(node.value)
            raise _refusal(f"{shown} {error.why}", line=_line(node)) from None
        return value

    return checked


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if not tag.endswith((":bool", ":timestamp", ":value"))
    ]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
for _word in ("true", "false"):
    _resolvers = _Loader.yaml_implicit_resolvers.setdefault(_word[0], [])
    _resolvers.append(("tag:yaml.org,2002:bool", re.compile(rf"^{_word}$")))
for _tag in _PLAIN[1:4]:  # bool, int and float
    _Loader.add_constructor(_tag, _checked(yaml.CSafeLoader.yaml_constructors[_tag]))
