from mnestic.memory.operations import Operation


def test_a_request_is_known_by_its_name_its_content_and_the_first_run_of_its_workflow() -> None:
    request = {"a": 1, "b": [2]}
    one = Operation(key="j1/0/1/set", name="set").request_hash(request)
    others = [
        Operation(key="k", name="set").request_hash({"a": 2, "b": [2]}),
        Operation(key="k", name="delete").request_hash(request),
        Operation(key="k", name="set", chain="first").request_hash(request),
        Operation(key="k", name="set", chain="second").request_hash(request),
    ]

    same = Operation(key="j2/0/9/set", name="set", job_id="j2").request_hash({"b": [2], "a": 1})

    assert same == one
    assert len({one, *others}) == 5
