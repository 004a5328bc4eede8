"""Which parts of a message its speaker did not write: machine text, quoted mail and quotations, by their shape.

It stands before the parser, which would read a log or a diff as if somebody said it.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mnestic.memory.language.word_lists import read_patterns

_FILE = Path(__file__).with_name("machine_text.yaml")

# A line that says where it comes from: a time or a level, a place in a file, a prompt, a header of mail, a comment.
_MARKED_LINE = re.compile(
    r"\s*(?:[\[(<]?\d{1,4}[-./:]\d{1,2}(?:[-./:]\d{1,4})?\b.{0,24}?(?:\b[A-Z]{4,}\b|[\])>]|\w[ \t]*[:>] )|(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b"
    r"|File \"|at [\w.$]+\(|[\w.]*(?:Error|Exception)\b:|(?:>|\$|#!?|//|/\*|\*/|<!--|@@|\+\+\+|---) ?\S|<[\w .-]+> "
    r"|(?:From|To|Cc|Date|Sent|Subject|Reply-To): "
    # syslog, a container's name, klog, logcat, a web server
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d |[\w.-]+ +\| |[IWEF]\d{4} \d\d:|[VDIWEF]/[\w.]+\(|\d{1,3}(?:\.\d{1,3}){3} - )"
)
_CODE_LINE = re.compile(
    r"[^\n]*[{}][ \t]*$|.*[=({\[+].*;[ \t]*$|.*(?:\w\(.*\)[:;]?|=>|==|\+=|</\w+>|\);)[ \t]*$|[ \t]*[\])}]+[,;]?[ \t]*$"
)
_FIELD_LINE = re.compile(
    r"[ \t]*(?:- |export )?[\w.-]+(?:[ \t]*=[ \t]*\S|:(?:[ \t]+[^\s.!?]|[ \t]*$))"
)
_CARD_LINE = re.compile(r"^[ \t]*[^\W\d_][\w '-]{0,30}:[ \t]+\S")
_HEADING = re.compile(r"^[ \t]*[A-Z][\w'-]*(?: [\w'-]+){0,3}[ \t]*")
_ITEM_LINE = re.compile(r"[ \t]+- \S|[ \t]*[\[\]{}(),]+[ \t]*$")
_LOWER_KEY = re.compile(r"[ \t]*(?:- )?[a-z_\d.-]+\s*[:=]|[ \t]*[A-Z][A-Z_\d]+\s*=")
_DIFF_LINE = re.compile(r"[+-](?![ \t]?-|\s)")
_CITED_LINE = re.compile(r"[ \t]*>")
_NOTES_LINE = re.compile(r"[^\n]*[\u266a\u266b\U0001f3b5\U0001f3b6]")
# From such a line on, a paragraph is what a program wrote: a stack trace, or a prompt.
_TRACE = re.compile(
    r"Traceback|Exception in thread|\s*at [\w.$]+\([\w.]+:\d+\)|(?:>>>|\$|[\w.-]+@[\w.-]+:[^\n]{0,80}?[$#]|(?:PS )?[A-Z]:\\[^\n>]{0,80}>) \S"
)
_FENCED = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]*`|^~~~(?s:.*?)(?:^~~~|\Z)|^<{7} (?s:.*?)^>{7} [^\n]*",
    re.MULTILINE,
)
_QUOTED = re.compile(
    "\"([^\"\n]*)(?:\"|$)|\u201c([^\u201d\n]*)(?:\u201d|$)|\u00ab([^\u00bb\n]*)(?:\u00bb|$)|\u201e([^\u201c\u201d\n]*)(?:[\u201c\u201d]|$)|''([^\n]*?)(?:''|$)"
    "|(?<![\\w'])'(?=\\w)((?:[^'\n]|'(?=\\w)){0,300})'(?!\\w)|\u2018([^\u2019\n]*)\u2019(?!\\w)",
    re.MULTILINE,
)
_TITLE = re.compile(r"[A-Z\d][\w'-]*(?: [\w'&-]+){0,5}")
_BEFORE_TITLE = re.compile(r"(?:\b(?:called|named|is|titled|are|was)|'s|:)\s*\Z")
_LABEL = re.compile(r"[ \t]*([^\s:,.!?][^:\n,.!?]{0,30}?)[ \t]*:(?=[ \t]*(?:\n|$|[^\S\n]+\S))")
_HALF = 0.5
_FEWEST_FIELDS = 2
_FEWEST_COMMAS = 2


@cache
def _pattern(name: str) -> re.Pattern[str]:
    flags = re.NOFLAG if name == "code" else re.IGNORECASE | re.MULTILINE
    return re.compile(read_patterns(_FILE)[name], flags)


def mask_machine_text(content: str, *, speaker: str = "") -> str:
    """The message with spaces in the place of all that its speaker did not write, character for character.

    A title in quotation marks, as after "called", is no speech and stays.
    """
    name = re.escape(speaker.split(maxsplit=1)[0]) if speaker.strip() else r"(?!)"
    if re.match(rf"\W*\w+ {name}\b[ \t,!.]*\n", content):  # a letter to the speaker
        return re.sub(r"[^\n]", " ", content)
    text = _pattern("rest").sub(_blank, _FENCED.sub(_blank, content))
    parts = re.split(r"(\n[ \t]*\n)", text)
    text = "".join(
        part if number % 2 else _mask_paragraph(part) for number, part in enumerate(parts)
    )
    return _QUOTED.sub(_quoted, _mask_labelled(text, speaker=speaker))


def _mask_paragraph(paragraph: str) -> str:
    lines = paragraph.split("\n")
    marked = [_is_machine_line(line) for line in lines]
    is_whole = len(lines) > 1 and sum(marked) > len(lines) * _HALF
    if is_whole or _is_record(lines) or _is_card(lines) or _is_diff(lines) or _is_table(lines):
        return "\n".join(" " * len(line) for line in lines)
    traces = [number for number, line in enumerate(lines) if _TRACE.match(line)]
    first = traces[0] if traces else len(lines)
    return "\n".join(
        " " * len(line) if is_machine or number >= first else line
        for number, (line, is_machine) in enumerate(zip(lines, marked, strict=True))
    )


def _is_machine_line(line: str) -> bool:
    patterns = (_MARKED_LINE, _CODE_LINE, _CITED_LINE, _NOTES_LINE, _pattern("code"))
    return any(pattern.match(line) for pattern in patterns)


def _is_record(lines: list[str]) -> bool:
    """Whether all lines are fields of a record, with keys as programs write them."""
    filled = [line for line in lines if line.strip()]
    fields = [line for line in filled if _FIELD_LINE.match(line)]
    are_all = all(_FIELD_LINE.match(line) or _ITEM_LINE.match(line) for line in filled)
    has_keys = all(_LOWER_KEY.match(line) for line in fields)
    return are_all and has_keys and len(fields) >= _FEWEST_FIELDS


def _is_card(lines: list[str]) -> bool:
    """Whether all lines are fields about somebody, whom the first line names, or a field: no word says that it is the speaker."""
    filled = [line for line in lines if line.strip()]
    heading = _HEADING.fullmatch(filled[0]) if filled else None
    has_heading = heading is not None and not _pattern("own_label").search(heading[0])
    fields = filled[1:] if has_heading else filled
    has_name = len(fields) > 1 and any(_pattern("name_field").match(line) for line in fields)
    is_about = bool(fields) and (has_heading or has_name)
    return is_about and all(_CARD_LINE.match(line) for line in fields)


def _is_diff(lines: list[str]) -> bool:
    signs = {line[0] for line in lines if _DIFF_LINE.match(line)}
    return len(signs) > 1


def _is_table(lines: list[str]) -> bool:
    """Whether lines are rows of one number of fields, without a space behind their commas."""
    counts = {len(re.findall(r"[,;|\t](?! )", line)) for line in lines if line.strip()}
    return len(lines) > 1 and len(counts) == 1 and counts.pop() >= _FEWEST_COMMAS


def _mask_labelled(text: str, *, speaker: str) -> str:
    """Blanks what stands under somebody else's label, as in "Tom: I live in Oslo"; a label alone holds for a paragraph."""
    for start, end in list(_labelled(text, speaker=speaker)):
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _labelled(text: str, *, speaker: str) -> Iterator[tuple[int, int]]:
    place = 0
    for line in text.split("\n"):
        match = _LABEL.match(line)
        if match and not _is_own(match[1], speaker=speaker):
            is_alone = not line[match.end() :].strip()
            end = text.find("\n\n", place) if is_alone else place + len(line)
            rest = line[match.end() :]
            if is_alone or _pattern("spoken").search(rest):
                yield place, len(text) if end < 0 else end
        place += len(line) + 1


def _is_own(label: str, *, speaker: str) -> bool:
    is_speaker = label.strip().casefold() == speaker.casefold()
    return is_speaker or _pattern("own_label").search(label) is not None


def _quoted(match: re.Match[str]) -> str:
    words = next((group for group in match.groups() if group is not None), "")
    before = match.string[max(0, match.start() - 12) : match.start()]
    is_title = (
        _TITLE.fullmatch(words)
        and not _pattern("spoken").search(words)
        and _BEFORE_TITLE.search(before)
    )
    return _bare(match[0], words) if is_title else _blank(match)


def _bare(quoted: str, words: str) -> str:
    """A title without its quotation marks, at the same place."""
    start = quoted.index(words)
    return " " * start + words + " " * (len(quoted) - start - len(words))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n.!?]|[.!?](?!\W?\Z)", " ", match[0])
