"""Files as documents: their parts lead back to heading, line and page."""

from pathlib import Path

import pytest

from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.long_term.document_parts import cut_document
from mnestic.starter.contract.document_files import read_document

GUIDE = """Some words before.

# Titles
## Length

At most sixty characters.

```sh
# no heading
```

## Words
Names the subject.

# Images
Each has a description.
"""


def pdf_of(*pages: str) -> bytes:
    """A PDF that has a line of text on each page."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
    ]
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Resources {font} /Contents {4 + 2 * number} 0 R >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    body, places = "%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{one}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + tail).encode()


def test_markdown_is_cut_at_its_headings() -> None:
    parts = cut_document(GUIDE, count_tokens=count_tokens)

    assert [(part.headings, part.line) for part in parts] == [
        ((), 1),
        (("Titles", "Length"), 3),
        (("Titles", "Words"), 12),
        (("Images",), 15),
    ]
    assert "".join(part.content for part in parts) == GUIDE
    assert {part.page for part in parts} == {None}


@pytest.mark.parametrize("gap", ["\n\n", "\n", " ", ""])
def test_what_is_long_is_cut_into_parts_of_so_many_tokens(gap: str) -> None:
    text = "# Story\n\n" + gap.join(f"Sentence{number}is told." for number in range(900))

    parts = cut_document(text, count_tokens=count_tokens, max_tokens=100)

    assert "".join(part.content for part in parts) == text
    assert all(count_tokens(part.content) <= 100 for part in parts)
    assert len(parts) <= count_tokens(text) / 25
    for part in parts:
        assert part.headings == ("Story",)
        assert part.line == text[: text.index(part.content)].count("\n") + 1


def test_each_page_of_a_pdf_is_a_part(tmp_path: Path) -> None:
    path = tmp_path / "guide.pdf"
    path.write_bytes(pdf_of("Titles are short.", "Images have descriptions."))

    document = read_document(path, document_id=None, metadata={"of": "SEO"})
    parts = cut_document(document["content"], count_tokens=count_tokens)

    assert [(part.content.strip(), part.page) for part in parts] == [
        ("Titles are short.", 1),
        ("Images have descriptions.", 2),
    ]
    assert document | {"content": ""} == {
        "id": "guide.pdf",
        "content": "",
        "metadata": {"of": "SEO"},
        "source": str(path),
    }


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe", "is not UTF-8"),
        (b" \n", "has no text"),
        (b"%PDF-1.4\nnothing", "is no PDF that can be read"),
        (pdf_of(""), "has no text"),
        (None, "no such file"),
    ],
)
def test_a_file_without_a_text_is_refused(tmp_path: Path, content: bytes | None, why: str) -> None:
    path = tmp_path / "bad"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(InvalidInputError, match=why):
        read_document(path, document_id="a", metadata={})
