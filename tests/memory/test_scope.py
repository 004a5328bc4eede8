import pytest
from pydantic import ValidationError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.names import job_workflow_id, operation_key, wait_id
from mnestic.memory.scope import Scope, check_id


def test_an_id_of_plain_characters_is_taken() -> None:
    for name in ("a", "0", "ada", "a.b_c@d:e+f-g", "A" * 128):
        assert check_id(name, what="agent") == name
        assert Scope(tenant_id=name, agent_id=name, session_id=name).agent_id == name


@pytest.mark.parametrize(
    "name", ["", "-a", ".a", "a b", "a/b", "ä", "a\n", "a\0", "'; --", "A" * 129, "🙂"]
)
def test_an_id_of_other_characters_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="agent"):
        check_id(name, what="agent")
    with pytest.raises(ValidationError, match="is not an id"):
        Scope(tenant_id="t", agent_id=name, session_id="s")


def test_names_that_other_systems_see_tell_whose_they_are() -> None:
    assert job_workflow_id("t", "j1") == "job/t/j1"
    assert wait_id("j1", 3) == "j1/w3"
    assert operation_key("j1", epoch=2, step=5, name="remember") == "j1/2/5/remember"
