"""The memories of the retrieval benchmark."""

import psycopg

from benchmarks.retrieval.data import fill_tokens
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.memory.language.terms import first_terms
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.plan_samples import keep

_STORED = "SELECT content, tokens FROM mnestic.entry WHERE tenant_id = %s"


async def test_entries_of_an_older_directory_get_the_tokens_of_their_terms(
    memory: PostgresMemory, settings: Settings, admin_url: str
) -> None:
    await keep(memory, tenant=settings.tenant_id, number=20)
    older = "UPDATE mnestic.entry SET tokens = NULL WHERE tenant_id = %s"
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as owner:
        await owner.execute(older, [settings.tenant_id])

        filled = await fill_tokens(owner, settings.tenant_id)
        again = await fill_tokens(owner, settings.tenant_id)
        stored = await (await owner.execute(_STORED, [settings.tenant_id])).fetchall()

    words = TokenVectorEmbedder()
    assert (filled, again) == (20, 0)
    for content, tokens in stored:
        assert [tokens] == words.tokenize([" ".join(first_terms(content))])
