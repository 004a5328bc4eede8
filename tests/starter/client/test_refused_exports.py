"""Exports that are no exports: what is refused, at which line, and what was read before it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.export_lines import (
    EndLine,
    ExportLine,
    HeaderLine,
    MessageLine,
    RecordLine,
)
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.client.test_exports import EVENING, said


async def test_a_claim_that_stands_with_another_message_is_refused(client: MnesticClient) -> None:
    other = Claim(
        id="c",
        subject="Mara",
        predicate="likes",
        object="tea",
        said_at=EVENING,
        source=ClaimSource(extractor="rules", session_id="s", source_id="m"),
    )
    line = MessageLine(message=said(1, "Mara", "I like tea."), claims=(other,))

    with pytest.raises(InvalidInputError, match="line 2: claim c: is not of the message"):
        await client.memory("eve").import_lines([HEADER, line, EndLine(lines=2)])


def record(key: str, **fields: Any) -> RecordLine:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    given = {"value": 1, "version": 3, "created_at": at, "updated_at": at}
    return RecordLine(namespace="n", key=key, **given | fields)


HEADER = HeaderLine(tenant_id="t", agent_id="a", at=EVENING)


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ([], "export: is empty"),
        ([record("a")], "export, line 1: is no header"),
        ([HEADER, record("a"), HEADER], "export, line 3: is a second header"),
        ([HEADER, record("a")], "export: has no last line, so it was cut off after line 2"),
        ([HEADER, record("a"), EndLine(lines=7)], "line 3: says that 7 lines are before it"),
        ([HEADER, record("a"), EndLine(lines=2), record("b")], "line 4: comes after the last line"),
        ([HEADER, record("a"), record("b", value=None), record("c")], "line 3: n/b: has no value"),
        ([HEADER, record("a"), record("b\0"), record("c")], r"line 3: key"),
        ([HEADER.model_copy(update={"version": 5})], "is of version 5; .* upgrade mnestic"),
        (
            [HEADER, record("a"), MessageLine(message=said(1, "", "Hello."))],
            "line 3: message 's1/m1': speaker has 0 characters",
        ),
    ],
)
async def test_a_line_that_cannot_be_is_one_error_and_those_before_it_are_read(
    client: MnesticClient, lines: list[ExportLine], error: str
) -> None:
    eve = client.memory("eve")

    with pytest.raises(InvalidInputError, match=error):
        await eve.import_lines(iter(lines))

    records, _ = await eve.records.list()
    expected = [("a", 3)] if len(lines) > 1 and lines[0] == HEADER else []
    assert [(one.key, one.version) for one in records] == expected
    assert await eve.entries.list(EntryQuery()) == ((), None)
