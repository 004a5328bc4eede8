"""What is refused before it is parsed, and who can take how many places."""

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from mnestic.starter.http import gate
from mnestic.starter.http.bodies import MOST_VALUES
from mnestic.starter.http.capacity import Capacity
from mnestic.starter.http.values import RequestBody
from mnestic.starter.yaml_documents import LARGEST_BYTES
from tests.starter.http.conftest import opened

PLAN = {"session_id": "s"}
WORST = (
    "nodes: [" + "{a: 1}," * (19_900 // 3) + "a]"
)  # nearly as many values as are allowed, each of them wrong
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ("nodes: [" + "a," * 500_000 + "a]", f"larger than {LARGEST_BYTES} bytes"),
        ("nodes: [" + "a," * 200_000 + "a]", "values with its aliases followed"),
        ("[" * 200_000, "nested too deep"),
        ({"nodes": [{"a": "b" * 800}] * 800}, "larger than"),
        ({"nodes": [0] * 30_000}, f"more than {MOST_VALUES} values"),
        ({"nodes": json.loads("[" * 70 + "]" * 70)}, "nested deeper than"),
    ],
)
async def test_a_plan_that_is_too_large_is_refused_before_it_is_read(
    http: httpx2.AsyncClient, plan: object, why: str
) -> None:
    answer = await http.post("/v1/jobs", json={**PLAN, "plan": plan})

    assert answer.status_code in {400, 413, 422}
    assert why in answer.text


async def test_a_form_of_too_many_fields_is_refused(http: httpx2.AsyncClient) -> None:
    answer = await http.post("/ui/sign-in", content=b"a=&" * 1001, headers=FORM)

    assert (answer.status_code, "1000 fields" in answer.text) == (413, True)


async def test_a_body_that_does_not_come_is_given_up(
    http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "BODY_S", 0.01)

    answer = await http.post("/v1/ingest", content=unfinished(asyncio.Event()))

    assert (answer.status_code, answer.headers["Connection"]) == (408, "close")


async def test_who_has_a_key_is_answered_though_others_take_all_places_without_one(
    http: httpx2.AsyncClient, app: FastAPI
) -> None:
    end = asyncio.Event()
    async with opened(app, None) as stranger, asyncio.TaskGroup() as group:
        begun = [
            group.create_task(stranger.post("/ui/sign-in", content=unfinished(end), headers=FORM))
            for _ in range(260)
        ]
        done, _ = await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
        assert {one.result().headers["Retry-After"] for one in done} == {"1"}
        assert (await stranger.get("/v1/health")).status_code == 200
        assert (await http.get("/v1/memory/facts")).status_code == 200
        end.set()
        answers = [(await one).status_code for one in begun]

    assert answers.count(503) == 260 - gate.MOST_OF_ADDRESS
    async with opened(app, None) as stranger:
        assert (await stranger.get("/ui/sign-in")).status_code == 200


def test_one_asker_takes_no_more_than_its_share_and_all_no_more_than_there_is() -> None:
    capacity = Capacity(places=3, for_each=2)

    with capacity.place("ada"), capacity.place("ada"):
        with pytest.raises(HTTPException), capacity.place("ada"):
            pass
        with (
            capacity.place("grace"),
            pytest.raises(HTTPException) as refused,
            capacity.place("alan"),
        ):
            pass
    with capacity.place("ada"):
        left = dict(capacity.taken)

    assert (refused.value.status_code, left) == (503, {"ada": 1})


async def unfinished(end: asyncio.Event) -> AsyncIterator[bytes]:
    """A body whose end waits."""
    yield b"key="
    await end.wait()


async def test_a_body_without_a_key_is_small(app: FastAPI) -> None:
    async with opened(app, None) as stranger:
        answer = await stranger.post(
            "/ui/sign-in",
            content=b"[" * (gate.BYTES_WITHOUT_KEY + 1),
            headers={"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"},
        )

    assert answer.status_code == 413


def test_the_places_of_values_take_no_memory_for_long_names() -> None:
    class Body(RequestBody):
        values: dict[str, list[int]]

    tracemalloc.start()
    Body.model_validate({"values": {"x" * 100_000: [1] * 10_000}})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20 * 2**20
    with pytest.raises(ValidationError) as refused:
        Body.model_validate({"values": {"a": [1, float("inf")]}})
    assert refused.value.errors()[0]["ctx"]["path"] == "values.a.1"


async def test_others_are_answered_while_the_worst_plan_is_read(http: httpx2.AsyncClient) -> None:
    worst = asyncio.create_task(http.post("/v1/jobs", json={**PLAN, "plan": WORST}))
    answers = 0
    while not worst.done():
        assert (await http.get("/v1/health")).status_code == 200
        answers += 1
        await asyncio.sleep(0)  # the answer may need no other task

    assert (await worst).status_code == 422
    assert answers > 10
