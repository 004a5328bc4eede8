"""Reads a contract from YAML; errors name the line and the path.

The checks know nothing of YAML.
"""

from pathlib import Path
from typing import Any

from mnestic.memory.contract.checks import check, path_text, refusal
from mnestic.memory.errors import InvalidContractError, InvalidPlanError
from mnestic.starter.yaml_documents import lines_of, read_document, read_yaml


def read_contract(path: Path) -> dict[str, Any]:
    """Reads a contract from a file.

    Raises:
        InvalidContractError: the file cannot be read, or lists every problem of its content.
    """
    try:
        text = read_document(path)
    except InvalidPlanError as error:
        raise InvalidContractError(source=str(path), problems=error.problems) from None
    return parse_contract(text, source=str(path))


def parse_contract(text: str, *, source: str) -> dict[str, Any]:
    """Reads a contract from YAML or JSON text; `source` names it in errors.

    Raises:
        InvalidContractError: lists every problem, with its line and path.
    """
    try:
        root, data = read_yaml(text, source=source)
    except InvalidPlanError as error:
        raise InvalidContractError(source=source, problems=error.problems) from None
    found = check(data)
    if found:
        lines = {path_text(path): line for path, line in lines_of(root).items()}
        problems = [f"line {lines.get(one.path, 1)}: {one}" for one in found]
        raise refusal(problems, source=source)
    document: dict[str, Any] = data
    return document
