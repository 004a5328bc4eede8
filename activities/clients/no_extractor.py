"""No extractor: messages are stored and found, and no facts are extracted from them.

Ingestion is the same without extraction, and the name shows what is lacking.
"""

from collections.abc import Sequence

from mnestic.memory.knowledge.extraction import Extraction, ExtractionInput
from mnestic.memory.knowledge.ingestion import NO_EXTRACTOR


class NoExtractor:
    """Implements `mnestic.memory.ports.Extractor` without claims."""

    name = NO_EXTRACTOR
    model = None
    batch = 500
    reads_earlier = False

    async def extract(self, turns: Sequence[ExtractionInput]) -> Extraction:
        """No claims for any turn."""
        return Extraction(claims=((),) * len(turns), model=self.name)
