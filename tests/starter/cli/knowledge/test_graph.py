"""`mnestic memory graph`: edges around a name, as a table and as JSON."""

from collections.abc import Callable
from typing import Any

Cli = Callable[..., Any]
ADA = ("--agent", "ada")


def test_the_edges_around_a_name_are_shown(wired: Cli) -> None:
    for fact in (("Mara", "works_for", "Acme"), ("Acme", "located_in", "Ghent")):
        assert wired("memory", "facts", "add", *fact, *ADA).code == 0

    near = wired("memory", "graph", "Mara", *ADA).out
    far = wired("memory", "graph", "mara", "--depth", "2", *ADA, "--json").document
    cut = wired("memory", "graph", "--limit", "1", *ADA).out
    before = wired("memory", "graph", "Mara", "--at", "2020-01-01", *ADA).out
    refused = wired("memory", "graph", "Mara", "--at", "soon", *ADA)

    assert [line.split()[:4] for line in near.splitlines()] == [
        ["from", "predicate", "to", "weight"],
        ["Mara", "works_for", "Acme", "0.99"],
    ]
    assert [node["name"] for node in far["nodes"]] == ["Mara", "Acme", "Ghent"]
    assert [edge["source"] for edge in far["edges"]] == ["mara", "acme"]
    assert "There are more edges than 1" in cut
    assert before == "No edges.\n"
    assert "--at" in refused.error(code=2)
