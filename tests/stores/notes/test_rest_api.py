"""A vault behind the plugin's server: whom it is taken for, and what its answers may be."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from mnestic.memory.errors import ConfigurationError, NotesUnavailableError
from mnestic.memory.retrieval.notes import NoteSelection
from mnestic.stores.notes.rest_api import RestVault
from tests.stores.notes.conftest import CERTIFICATES, FINGERPRINT, KEY, Plugin

PROFILE = NoteSelection(paths=("Profile.md",))
Make = Callable[..., RestVault]


@pytest.mark.parametrize(
    "written",
    [
        FINGERPRINT,
        FINGERPRINT.lower().replace(":", ""),
        f"sha256 Fingerprint={FINGERPRINT}",
        f"SHA256:{FINGERPRINT}",
    ],
)
async def test_a_fingerprint_is_read_however_it_is_written(by_api: Make, written: str) -> None:
    assert (await by_api(fingerprint=written).read(PROFILE)).notes


async def test_a_certificate_that_is_another_is_refused_before_the_key_is_sent(
    plugin: Plugin, by_api: Make
) -> None:
    with pytest.raises(NotesUnavailableError, match=r"c7259fea.* is another"):
        await by_api(fingerprint="00" * 32).read(PROFILE)

    assert plugin.asked == []


async def test_a_certificate_is_taken_from_whom_the_file_names(
    plugin: Plugin, by_api: Make
) -> None:
    trusted = by_api(fingerprint=None, ca_file=CERTIFICATES / "vault.pem")
    other = by_api(fingerprint=None, ca_file=CERTIFICATES / "stranger.pem")

    assert (await trusted.read(PROFILE)).notes
    plugin.asked.clear()
    with pytest.raises(NotesUnavailableError, match="certificate is not trusted"):
        await other.read(PROFILE)
    assert plugin.asked == []


async def test_a_certificate_of_its_own_making_is_never_taken_blindly(
    plugin: Plugin, by_api: Make
) -> None:
    with pytest.raises(NotesUnavailableError, match="set MNESTIC_OBSIDIAN_FINGERPRINT"):
        await by_api(fingerprint=None).read(PROFILE)

    assert plugin.asked == []


async def test_a_certificate_that_has_expired_is_taken_by_its_fingerprint_alone(
    serve: Callable[..., Plugin],
) -> None:
    plugin = serve("expired")
    fingerprint = "45fcc4ef9e24a7ed5a491327c2e9bf640ce3eb8eb0ed56633159b851af32c91b"
    fields: dict[str, Any] = {"api_key": SecretStr(KEY), "timeout": timedelta(seconds=5)}
    pinned = RestVault(plugin.url, fingerprint=fingerprint, **fields)
    signed = RestVault(plugin.url, ca_file=CERTIFICATES / "expired.pem", **fields)

    assert (await pinned.read(PROFILE)).notes
    plugin.asked.clear()
    with pytest.raises(NotesUnavailableError, match="certificate has expired"):
        await signed.read(PROFILE)
    assert plugin.asked == []


async def test_file_and_fingerprint_both_have_to_hold(by_api: Make) -> None:
    with pytest.raises(NotesUnavailableError, match="not trusted"):
        await by_api(ca_file=CERTIFICATES / "stranger.pem").read(PROFILE)


async def test_all_of_a_reading_goes_by_the_key(plugin: Plugin, by_api: Make) -> None:
    await by_api().read(NoteSelection(paths=("Profile.md",), tag="friends"))

    assert plugin.asked == [
        ("/search/", f"Bearer {KEY}"),
        ("/vault/Profile.md", f"Bearer {KEY}"),
        ("/vault/People/Jonas.md", f"Bearer {KEY}"),
    ]


@pytest.mark.parametrize("key", [None, SecretStr("wrong")])
async def test_a_key_that_is_refused_is_told(by_api: Make, key: SecretStr | None) -> None:
    with pytest.raises(NotesUnavailableError, match="MNESTIC_OBSIDIAN_API_KEY"):
        await by_api(api_key=key).read(PROFILE)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((500, b"oops"), "its search answers 500"),
        ((200, b"<html>"), "another form"),
        ((200, b"[" * 100_000), "another form"),
        ((200, b" " * 5_000_000), "more than 4194304 bytes"),
        ((302, b""), "its search answers 302"),
    ],
)
async def test_an_answer_of_no_use_is_told(
    plugin: Plugin, by_api: Make, answer: tuple[int, bytes], why: str
) -> None:
    plugin.answer = answer

    with pytest.raises(NotesUnavailableError, match=why):
        await by_api().read(NoteSelection(tag="mnestic"))


async def test_a_note_that_is_no_text_is_skipped(plugin: Plugin, by_api: Make) -> None:
    plugin.answer = (200, b"\xff\xfe")

    found = await by_api().read(PROFILE)

    assert (found.notes, found.skipped[0].why) == ((), "is no text in UTF-8")


async def test_a_server_that_is_silent_is_given_up(plugin: Plugin, by_api: Make) -> None:
    plugin.silent = True
    began = time.monotonic()

    with pytest.raises(NotesUnavailableError, match="timed out"):
        await by_api(timeout=timedelta(seconds=0.2)).read(PROFILE)

    assert time.monotonic() - began < 3


async def test_whoever_waits_no_longer_is_not_held_up(plugin: Plugin, by_api: Make) -> None:
    plugin.drips = True
    vault = by_api()
    began = time.monotonic()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await vault.read(PROFILE)

    assert time.monotonic() - began < 1
    plugin.drips = False
    assert (await vault.read(PROFILE)).notes


async def test_a_server_that_never_comes_to_an_end_holds_no_reader(
    plugin: Plugin, by_api: Make
) -> None:
    vault = by_api()
    plugin.drips_headers = True
    for _ in range(5):  # more than there are readers
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await vault.read(PROFILE)

    plugin.drips_headers = False

    async with asyncio.timeout(2):
        assert (await vault.read(PROFILE)).notes


async def test_a_server_that_is_gone_is_told() -> None:
    gone = RestVault("https://127.0.0.1:1", api_key=None, timeout=timedelta(seconds=1))

    with pytest.raises(NotesUnavailableError, match="refused"):
        await gone.read(PROFILE)


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        ({"url": "http://127.0.0.1:27123"}, "MNESTIC_OBSIDIAN_URL"),
        ({"url": "127.0.0.1"}, "MNESTIC_OBSIDIAN_URL"),
        ({"url": "https://127.0.0.1:port"}, "MNESTIC_OBSIDIAN_URL"),
        ({"fingerprint": "c7:25"}, "MNESTIC_OBSIDIAN_FINGERPRINT"),
        ({"ca_file": Path("/nowhere.pem")}, "MNESTIC_OBSIDIAN_CA_FILE"),
        ({"ca_file": Path(__file__)}, "MNESTIC_OBSIDIAN_CA_FILE"),
        ({"api_key": SecretStr("a\nb")}, "MNESTIC_OBSIDIAN_API_KEY"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_at_once(changes: dict[str, Any], setting: str) -> None:
    chosen = {"url": "https://127.0.0.1:27124", "api_key": None, "timeout": timedelta(seconds=1)}

    with pytest.raises(ConfigurationError, match=setting):
        RestVault(**(chosen | changes))


async def test_a_note_whose_name_is_no_text_is_named_escaped_and_the_others_are_told(
    plugin: Plugin, by_api: Make
) -> None:
    for name in ("bad\udcff.md", "nul\0.md", "line\nend.md"):
        plugin.notes[name] = ("Told.", ["odd"])
    plugin.notes["text.md"] = ("a\0b", ["odd"])

    found = await by_api().read(NoteSelection(tag="odd"))

    assert [note.path for note in found.notes] == ["line\nend.md"]
    why = {one.path: one.why for one in found.skipped}
    assert list(why) == ["bad\\udcff.md", "nul\\x00.md", "text.md"]
    assert "surrogate" in why["bad\\udcff.md"]
    assert "NUL" in why["nul\\x00.md"]
    assert "NUL" in why["text.md"]
