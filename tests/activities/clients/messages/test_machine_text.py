"""What a message's speaker did not write is left out before anything is parsed."""

from pathlib import Path

import yaml

from mnestic.activities.clients.messages.machine_text import mask_machine_text

TEXTS = yaml.safe_load(Path(__file__).with_name("machine_text.yaml").read_text(encoding="utf-8"))
WORDS = ("Bari", "Rex", "node-4", "ready", "Zeiss", "Ann", "staging")


def test_what_somebody_else_wrote_is_blanked() -> None:
    for text in TEXTS["of others"]:
        masked = mask_machine_text(text, speaker="Ada")

        assert len(masked) == len(text), text
        assert not [word for word in WORDS if word in masked], text


def test_what_people_write_stays() -> None:
    for text in TEXTS["of people"]:
        assert mask_machine_text(text, speaker="Ada") == text


def test_a_title_in_quotation_marks_is_no_speech() -> None:
    masked = mask_machine_text('My boat is called "Sea Otter". He said "I live in Bari".')

    assert "Sea Otter" in masked
    assert "Bari" not in masked
