"""Snapshots that no longer verify, as after a failure of the disk."""

import psycopg


def rot_snapshots(admin_url: str, *, tenant_id: str) -> None:
    """Flips a bit of a tenant's snapshots, past their trigger; done again, they verify again."""
    with psycopg.connect(admin_url) as connection:
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute(
            "UPDATE mnestic.memory_snapshot SET body = set_byte(body, 9, get_byte(body, 9) # 1)"
            " WHERE tenant_id = %s",
            [tenant_id],
        )
