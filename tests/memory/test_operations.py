from mnestic.memory.operations import Operation


def test_the_same_request_has_the_same_hash_whatever_the_key() -> None:
    one = Operation(key="j1/0/1/set", name="set").request_hash({"a": 1, "b": [2]})
    two = Operation(key="j2/0/9/set", name="set", job_id="j2").request_hash({"b": [2], "a": 1})

    assert one == two


def test_a_request_is_bound_to_the_first_run_of_its_workflow_if_it_has_one() -> None:
    hashes = {
        Operation(key="k", name="set", chain=chain).request_hash({"a": 1})
        for chain in (None, "first", "second")
    }

    assert len(hashes) == 3


def test_another_request_or_another_name_has_another_hash() -> None:
    one = Operation(key="k", name="set").request_hash({"a": 1})

    assert one != Operation(key="k", name="set").request_hash({"a": 2})
    assert one != Operation(key="k", name="delete").request_hash({"a": 1})
