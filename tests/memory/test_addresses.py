from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.addresses import describe_url
from tests.memory.tables import tables, wrong


def test_an_address_is_shown_by_what_is_no_secret() -> None:
    assert wrong(tables(__file__)["shown"], describe_url) == []


@given(
    st.sampled_from(["postgresql", "postgres", "https", "redis", ""]),
    st.text(max_size=8),
    st.sampled_from("?&#;@:/ "),
    st.sampled_from(["password=", "sslpassword=", "options=-c ", "key=", "token=", ":", ""]),
    st.text(max_size=8),
)
def test_what_stands_behind_a_name_that_is_not_known_is_hidden(
    scheme: str, before: str, separator: str, name: str, after: str
) -> None:
    described = describe_url(f"{scheme}://{before}h/m?{separator}{name}S3CRET{after}")

    assert "S3CRET" not in described
