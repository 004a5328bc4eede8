import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.addresses import describe_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://app:p@h:5432/m", "postgresql://app:***@h:5432/m"),
        ("postgresql://app:p@ss@h/m", "***"),
        ("postgresql://app:p/ss@h/m", "***"),
        ("postgresql://app@h/m", "postgresql://app@h/m"),
        ("postgresql://h1:1,h2:2/m", "postgresql://h1:1,h2:2/m"),
        ("postgresql://u:p@[::1]:5432/m", "postgresql://u:***@[::1]:5432/m"),
        ("postgresql://u@%2Fvar%2Frun/m", "postgresql://u@%2Fvar%2Frun/m"),
        ("postgresql:///m?host=/var/run&port=5", "postgresql:///m?host=/var/run&port=5"),
        (
            "postgresql://app@h/m?password=p&sslmode=require",
            "postgresql://app@h/m?sslmode=require",
        ),
        ("postgresql://h/m?options=-c%20a.key%3Dp", "postgresql://h/m"),
        ("postgresql://h/m?sslpassword=p&passfile=/p", "postgresql://h/m"),
        ("postgresql://h/m?host=a%40p&user=u", "postgresql://h/m?user=u"),
        ("postgresql://h/m#p", "***"),
        ("host=h password=p", "***"),
        ("https://api.example/v1", "https://api.example/v1"),
        ("https://key@api.example/v1/", "https://***@api.example/v1/"),
        ("https://u:p@api.example:8/v2?key=p", "https://***@api.example:8/v2***"),
        ("https://api.example/hooks/p", "https://api.example/***"),
        ("https://api.example/v1#p", "https://api.example/v1***"),
        ("127.0.0.1:7233", "127.0.0.1:7233"),
        ("u:p@127.0.0.1:7233", "***"),
        ("", ""),
    ],
)
def test_an_address_is_shown_by_what_is_no_secret(url: str, shown: str) -> None:
    described = describe_url(url)

    assert described == shown


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
