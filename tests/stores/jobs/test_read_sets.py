"""What jobs have read of long-term records, in every implementation of `Memory`."""

from mnestic.memory.jobs.long_term.records import ReadRecord
from tests.stores.conftest import Begin


async def test_a_job_keeps_what_it_saw_last_until_it_ends(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.records.add_reads(
            "j1",
            [
                ReadRecord(namespace="p", key="b", version=1, value="old"),
                ReadRecord(namespace="p", key="a", version=0),
            ],
        )
        await transaction.records.add_reads(
            "j1", [ReadRecord(namespace="p", key="b", version=2, value={"new": True})]
        )
        await transaction.records.add_reads("j2", [ReadRecord(namespace="p", key="c", version=1)])
        await transaction.records.add_reads("j1", [])

    async with begin(write=False) as transaction:
        reads = await transaction.records.list_reads("j1")
    assert reads == (
        ReadRecord(namespace="p", key="a", version=0),
        ReadRecord(namespace="p", key="b", version=2, value={"new": True}),
    )
    async with begin() as transaction:
        await transaction.records.remove_reads("j1")
        assert await transaction.records.list_reads("j1") == ()
        assert len(await transaction.records.list_reads("j2")) == 1


async def test_what_is_new_in_a_namespace_that_was_read_whole_joins_the_read_set(
    begin: Begin,
) -> None:
    async with begin() as transaction:
        records = [await transaction.records.set("n", key, 1) for key in ("b", "c", "d")]
    seen = (*(record.read for record in records[:2]), ReadRecord.of_namespace("n", limit=2))

    async with begin() as transaction:
        same, *_ = await transaction.records.select_again(seen)
        await transaction.records.set("n", "a", 2)
        await transaction.records.delete("n", "c")
        more, live, versions = await transaction.records.select_again(seen)

    assert same == seen  # `d` is beyond what was read
    assert more == (*seen, ReadRecord(namespace="n", key="a", version=0))
    assert {name: record.value for name, record in live.items()} == {("n", "b"): 1, ("n", "a"): 2}
    assert versions == {("n", "b"): 1, ("n", "c"): 2, ("n", "a"): 1}


async def test_what_was_there_beyond_the_end_of_a_reading_is_not_new(begin: Begin) -> None:
    async with begin() as transaction:
        records = [await transaction.records.set("n", key, 1) for key in ("b", "c", "d", "f")]
        ended = ReadRecord.of_namespace("n", limit=3, until="d")
        await transaction.records.add_reads("j1", [*(each.read for each in records[:3]), ended])
        seen = await transaction.records.list_reads("j1")

    async with begin() as transaction:
        await transaction.records.delete("n", "b")
        same, *_ = await transaction.records.select_again(seen)
        await transaction.records.set("n", "ca", 2)
        await transaction.records.set("n", "e", 2)
        more, *_ = await transaction.records.select_again(seen)

    assert same == seen
    assert more == (*seen, ReadRecord(namespace="n", key="ca", version=0))


async def test_of_two_readings_of_a_namespace_the_further_and_larger_one_counts(
    begin: Begin,
) -> None:
    ends = {"p": ("m", "c"), "q": ("c", "m"), "r": ("c", None), "s": (None, "c")}
    async with begin() as transaction:
        for namespace, untils in ends.items():
            for limit, until in zip((3, 2), untils, strict=True):
                read = ReadRecord.of_namespace(namespace, limit=limit, until=until)
                await transaction.records.add_reads("j1", [read])

    async with begin(write=False) as transaction:
        found = await transaction.records.list_reads("j1")
    ended = {read.namespace: read.value for read in found}
    assert ended == {"p": "m", "q": "m", "r": None, "s": None}
    assert {read.version for read in found} == {3}


async def test_a_read_set_of_any_size_is_compared(begin: Begin) -> None:
    reads = [ReadRecord(namespace="p", key=f"k{number}", version=0) for number in range(40_000)]
    async with begin() as transaction:
        await transaction.records.set("p", "k39999", 1)

    async with begin(write=False) as transaction:
        same, live, versions = await transaction.records.select_again(reads)

    assert same == tuple(reads)
    assert (list(live), versions) == ([("p", "k39999")], {("p", "k39999"): 1})
