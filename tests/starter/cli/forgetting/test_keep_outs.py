"""`mnestic memory keep-outs`, and `forget --keep-out`."""

import pytest

from mnestic.memory.errors import KeptOutError
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.cli.conftest import Ask

ADA = ("--agent", "ada")


@pytest.mark.usefixtures("worker")
async def test_what_is_kept_out_is_listed_and_lifted_by_its_id(
    ask: Ask, client: MnesticClient
) -> None:
    ada = client.memory("ada")
    await ada.add("Otilia sings.")
    await ask("memory", "forget", "Otilia", *ADA, "--yes", "--keep-out")

    with pytest.raises(KeptOutError):
        await ada.add("Otilia sings again.")
    (listed,) = (await ask("memory", "keep-outs", "list", *ADA, "--json")).document
    table = await ask("memory", "keep-outs", "list", *ADA)
    lifted = await ask("memory", "keep-outs", "lift", listed["id"], *ADA)
    after = await ask("memory", "keep-outs", "list", *ADA)

    assert listed["name_count"] == 1
    assert "otilia" not in str(listed).lower()
    assert listed["id"] in table.out
    assert listed["id"] in lifted.out
    assert "Nothing is kept out." in after.out
    assert (await ada.add("Otilia sings again.")).content
