"""`mnestic agents`, and the warning about an agent without memory."""

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.case_files import read_cases
from tests.starter.cli.conftest import Ask

READING: list[list[str]] = read_cases(__file__, "reading")


async def test_who_reads_of_an_unknown_agent_is_warned(ask: Ask, client: MnesticClient) -> None:
    await client.memory("ada-lovelace").records.set("profile", "name", "Ada")
    warning = (
        f"warning: agent Ada-lovelase has no memory in tenant {client.settings.tenant_id}; "
        "did you mean ada-lovelace?\n"
    )

    for words in READING:
        wrong = await ask(*words, "--agent", "Ada-lovelase")
        right = await ask(*words, "--agent", "ada-lovelace")

        assert wrong.err == warning, words
        assert right.err == "", words
