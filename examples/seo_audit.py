"""An agent that audits a web site with the memory of its contract, and goes on from its last audit.

Beside `mnestic up`, with the address of a Postgres for the backend that the contract names:

    export SUPABASE_URL=postgresql://...
    python seo_audit.py

The contract is `seo_contract.yaml`. Run it again: it reads back what the first run has stored.
"""

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mnestic import MnesticClient
from mnestic.memory.jobs.plans import Plan
from mnestic.starter.contract.documents import read_contract

CONTRACT = Path(__file__).with_name("seo_contract.yaml")
AGENT, SITE, AUDITS = "agent.seo.audit", "acme.example", "seo_audit_history"
PAGES = {
    "/": "<title>Acme</title><h1>Acme</h1><img src=a.png alt=Logo>",
    "/tools": "<title>Tools of Acme</title><img src=b.png>",
    "/jobs": "<h1>Work with us</h1><img src=c.png>",
}
CHECKS = {"a title": r"<title>.+</title>", "a heading": r"<h1>", "texts for images": r"\balt="}


def lacking() -> dict[str, list[str]]:
    """What each page lacks."""
    return {
        page: [name for name, pattern in CHECKS.items() if not re.search(pattern, text)]
        for page, text in PAGES.items()
    }


async def main() -> None:
    """Applies the contract, reads what earlier runs have left, audits the site, and stores the result."""
    async with await MnesticClient.connect() as client:
        applied = await client.contracts().apply("agent.seo.*", read_contract(CONTRACT))
        print(f"Contract: {applied.selector}, version {applied.version}")
        memory = await client.contract(AGENT, session_id=SITE)

        of_agent = {"field": "agent_id", "value": AGENT}
        newest_first = {"where": of_agent, "order_by": ["timestamp"], "descending": True}
        earlier, _ = await memory.query(AUDITS, newest_first)
        for audit in earlier:
            print(f"Earlier: {audit.value['score']} of 100 at {audit.value['timestamp']}")
        known = await memory.get_context("reference_data")
        print(f"Known: {known.content or 'nothing'}")

        now = datetime.now(UTC)
        audit_id = f"{SITE}-{now:%Y%m%dT%H%M%S.%f}"
        task = await memory.set_context("task_context", f"Audit {SITE}, {len(PAGES)} pages.")
        print(f"Task: {task.content} ({task.tokens} of {task.max_tokens} tokens)")

        found = {page: names for page, names in lacking().items() if names}
        texts = [f"Page {page} lacks {' and '.join(names)}." for page, names in found.items()]
        await tell(client, audit_id, [f"Audit of {SITE}.", *texts])
        print("Summary:", *(await memory.summarize("conversation")).splitlines(), sep="\n  ")

        score = 100 - 10 * sum(map(len, found.values()))
        value: dict[str, Any] = {"audit_id": audit_id, "agent_id": AGENT}
        value |= {"timestamp": now.isoformat(), "results": found, "score": score}
        stored = await memory.persist(AUDITS, audit_id, value, metadata={"site": SITE})
        read = await memory.retrieve(AUDITS, audit_id)
        print(f"Stored: {read['score']} of 100, kept until {stored.expires_at:%Y-%m-%d}")

        await memory.set_context("reference_data", f"The last audit of {SITE} gave {score} of 100.")
        await client.memory(AGENT).working_memory.end_session(SITE)  # what is persistent stays


async def tell(client: MnesticClient, job_id: str, texts: list[str]) -> None:
    """Has a job of the agent put texts into the segment `conversation`."""
    nodes = [
        {"id": f"n{number}", "kind": "remember", "learn": False, "next": f"n{number + 1}"}
        | {"message": {"role": "assistant", "content": text, "segment": "conversation"}}
        for number, text in enumerate(texts)
    ]
    nodes[-1]["next"] = "end"
    plan = Plan.model_validate({"name": "seo-audit", "nodes": nodes})
    await client.start_job(plan, agent_id=AGENT, session_id=SITE, job_id=job_id)
    await client.wait_for_result(job_id)


if __name__ == "__main__":
    asyncio.run(main())
