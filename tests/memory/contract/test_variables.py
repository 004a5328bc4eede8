"""Variables: what they stand for, which are not set, and that no secret is shown or written down."""

import pytest
from pydantic import ValidationError

from mnestic.memory.contract.document import MemoryContract
from mnestic.memory.contract.variables import filled, has_password, variables_of
from mnestic.memory.errors import ConfigurationError
from tests.memory.contract.seo_documents import edited, seo_document
from tests.memory.tables import tables, wrong

CASES = tables(__file__)
ENVIRONMENT = {"A": "one", "B": "${A} $x", "C": ""}
ADDRESS = "Memory.long_term.storage_backends[0].config.connection_string"


def test_variables_alone_are_filled_in_and_once() -> None:
    assert wrong(CASES["filled"], lambda text: filled(text, ENVIRONMENT)) == []


def test_a_password_is_found_and_a_variable_is_none() -> None:
    assert wrong(CASES["passwords"], has_password) == []


def test_the_variables_of_a_document_are_named_with_their_paths() -> None:
    raw = edited({"vector.collections.0.description": "for ${SITE}, ${SITE} and ${SUPABASE_URL}"})

    assert variables_of(raw) == {
        "SUPABASE_URL": (ADDRESS, "Memory.vector.collections[0].description"),
        "SITE": ("Memory.vector.collections[0].description",),
    }


def test_a_document_is_filled_in_as_a_copy() -> None:
    raw = seo_document()

    full = filled(raw, {"SUPABASE_URL": "postgres://seo:hunter2@db"})

    config = full["Memory"]["long_term"]["storage_backends"][0]["config"]
    assert config["connection_string"] == "postgres://seo:hunter2@db"
    assert MemoryContract.model_validate(full).Memory.long_term.enabled
    assert raw == seo_document()


def test_all_variables_that_are_not_set_are_named() -> None:
    raw = edited({"vector.collections.0.description": "for ${SITE}"})

    with pytest.raises(ConfigurationError) as caught:
        filled(raw, {"site": "x"})

    assert str(caught.value) == (
        f"SUPABASE_URL, SITE: not set in the environment; {ADDRESS} needs SUPABASE_URL; "
        "Memory.vector.collections[0].description needs SITE"
    )


def test_an_error_in_a_document_that_is_filled_in_shows_no_value() -> None:
    full = filled(seo_document(), {"SUPABASE_URL": "hunter2" * 1000})

    with pytest.raises(ValidationError) as caught:
        MemoryContract.model_validate(full)

    assert "connection_string" in str(caught.value)
    assert "hunter2" not in str(caught.value)
