"""The import of exports of other programs into an agent's memory."""
