"""Waiting until somebody waits for a lock, which tests of transactions side by side share."""

import asyncio

import psycopg


async def until_held_up(admin_url: str) -> None:
    """Until somebody waits for a lock in this test's database."""
    asked = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    async with (
        asyncio.timeout(30),
        await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as connection,
    ):
        while await (await connection.execute(asked)).fetchone() == (0,):  # noqa: ASYNC110 - Postgres sets no event
            await asyncio.sleep(0.02)
