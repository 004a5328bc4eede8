"""The templates: all of them compile, and none has a script or a style of its own, which browsers would not run."""

import re

import pytest

from mnestic.starter.http.pages.rendering import TEMPLATES, environment, link

FILES = sorted(TEMPLATES.glob("*.html"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_template_compiles_and_has_nothing_inline(path: object) -> None:
    name = getattr(path, "name", "")
    source = (TEMPLATES / name).read_text("utf-8")

    environment.get_template(name)

    assert re.search(r"\sstyle=|\son\w+=|<style|<script(?! src=)|hx-on|js:", source) is None
    assert "| safe" not in source


def test_a_size_is_written_as_a_person_reads_it() -> None:
    size_of = environment.filters["size_of"]

    assert [size_of(one, "database_bytes") for one in (512, -3_145_728)] == [
        "512 Bytes",
        "-3.0 MiB",
    ]
    assert size_of(-12_345, "facts") == "-12,345"


def test_a_link_leaves_out_what_has_no_value() -> None:
    assert link("/ui/x", a="b c", d=None, e="", f=False) == "/ui/x?a=b+c"
    assert link("/ui/x", a=None) == "/ui/x"
