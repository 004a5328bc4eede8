"""An agent's memory in numbers, counted in one transaction, so that they belong together."""

from mnestic.memory.knowledge.ingestion import MemoryStatistics
from mnestic.memory.ports import Transaction


async def memory_statistics(transaction: Transaction) -> MemoryStatistics:
    """Entries, messages, facts, archived entries and searches of the transaction's agent."""
    return MemoryStatistics(
        entries=await transaction.entries.count(),
        ingest_states=await transaction.ingest_states.count(),
        facts=await transaction.facts.count(),
        archived=await transaction.archive.count(),
        last_learned_at=await transaction.ingest_states.find_last_learned(),
        searches=await transaction.audit.count_searches(),
    )
