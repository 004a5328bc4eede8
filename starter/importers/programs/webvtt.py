"""Reads the transcript of a meeting as WebVTT: cues with a voice tag (`<v Ana>`) or a name before a colon.

Cues cut sentences by the second, and name who speaks only where that changes.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import make_id
from mnestic.memory.knowledge.resources import LARGEST_MESSAGE_BYTES
from mnestic.starter.importers.programs.items import (
    ImportOptions,
    Item,
    LeftOut,
    Origin,
    message_of,
)
from mnestic.starter.importers.programs.text_lines import read_text_lines
from mnestic.starter.importers.speaker_words import is_label, is_name

_TIME = r"(?:(\d{1,4}):)?([0-5]?\d):([0-5]\d)[.,](\d{3})"
_TIMING = re.compile(rf"\s*{_TIME}[ \t]+-->[ \t]+{_TIME}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+(?P<name>[^<>]+)>")
_TAG = re.compile(r"<[^<>]*>")
_NAMED = re.compile(r"(?P<name>[^:<>\n]{1,80}):\s+(?P<text>\S.*)", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*$")
_SOUND = re.compile(r"(?:\[[^\[\]]*\]|\([^()]*\)|[\u266a\u266b\s]+)+")  # [music]
_RECORDED_AT = re.compile(r"GMT(\d{8})-(\d{6})")  # in the name of a file of Zoom
_LONGEST_PAUSE = timedelta(seconds=10)  # within a sentence


class WebVttTranscript:
    """A transcript. One sentence at a time is in memory, and the names that occur."""

    format = "webvtt"

    def __init__(self, path: Path, options: ImportOptions, *, source: str) -> None:
        self._path, self._options, self._source = path, options, source
        self._start, self._start_note = _start(path, options)

    @property
    def notes(self) -> tuple[str, ...]:
        """The time at which the transcript begins, if no option says it."""
        return (self._start_note,) if self._start_note else ()

    def items(self) -> Iterator[Item]:
        """What is said, one item for the cues of a sentence."""
        channel = self._options.channel or self._path.stem
        seen: Counter[str] = Counter()
        for spoken in self._spoken():
            if _SOUND.fullmatch(spoken.text):
                yield LeftOut("sound")
                continue
            key = make_id("webvtt", str(spoken.begin), spoken.speaker, spoken.text)
            seen[key] += 1
            origin = Origin(
                session_id=f"webvtt/{channel}",
                source_id=key if seen[key] == 1 else f"{key}#{seen[key]}",
                channel=channel,
                place=f"line {spoken.line}",
            )
            yield message_of(
                origin, speaker=spoken.speaker, text=spoken.text, at=self._start + spoken.begin
            )

    def _spoken(self) -> Iterator["_Spoken"]:
        """Cues, joined while a sentence goes on."""
        current: _Spoken | None = None
        for cue in self._cues():
            for name, text in _voices(cue.text, self._names):
                speaker = name or (current.speaker if current else self._options.speaker)
                if not speaker:
                    why = "says something, but no name stands before it; --speaker says who speaks"
                    raise InvalidInputError(what=f"{self._source}, line {cue.line}", why=why)
                following = _Spoken(cue.line, cue.begin, cue.end, speaker, text)
                if current is not None and current.is_continued_by(following):
                    current = current.joined(following)
                    continue
                if current is not None:
                    yield current
                current = following
        if current is not None:
            yield current

    @cached_property
    def _names(self) -> frozenset[str]:
        """Names before colons, which are no labels."""
        found: set[str] = set()
        for cue in self._cues():
            for line in cue.text.splitlines():
                named = _NAMED.match(_TAG.sub("", line))
                if named and _may_speak(named["name"]):
                    found.add(named["name"].strip())
        return frozenset(found)

    def _cues(self) -> Iterator["_Cue"]:
        timing: re.Match[str] | None = None
        lines: list[str] = []
        number = begun = 0
        for number, line in read_text_lines(self._path, self._source):
            if found := _TIMING.fullmatch(line):
                timing, lines, begun = found, [], number
            elif "-->" in line:
                why = f"{line.strip()[:40]!r} is no timing such as 00:01:02.000 --> 00:01:04.000"
                raise InvalidInputError(what=f"{self._source}, line {number}", why=why)
            elif line.strip():
                lines.append(line.strip())
            elif timing is not None:
                yield _cue(begun, timing, lines)
                timing = None
        if timing is not None:
            yield _cue(begun, timing, lines)


class _Cue(NamedTuple):
    line: int
    begin: timedelta
    end: timedelta
    text: str


class _Spoken(NamedTuple):
    line: int
    begin: timedelta
    end: timedelta
    speaker: str
    text: str

    def is_continued_by(self, following: "_Spoken") -> bool:
        """Whether a cue goes on in the middle of this sentence."""
        return (
            self.speaker == following.speaker
            and _SENTENCE_END.search(self.text) is None
            and not _SOUND.fullmatch(following.text)
            and following.begin - self.end <= _LONGEST_PAUSE
            and len(self.text) + len(following.text) < LARGEST_MESSAGE_BYTES // 4
        )

    def joined(self, following: "_Spoken") -> "_Spoken":
        return self._replace(end=following.end, text=f"{self.text} {following.text}")


def _cue(line: int, timing: re.Match[str], lines: list[str]) -> _Cue:
    begin, end = (_offset(timing.groups()[at : at + 4]) for at in (0, 4))
    return _Cue(line, begin, end, "\n".join(lines))


def _offset(parts: tuple[str | None, ...]) -> timedelta:
    hours, minutes, seconds, milliseconds = (int(part or 0) for part in parts)
    return timedelta(
        hours=hours,
        minutes=minutes,
        seconds=seconds,
        milliseconds=milliseconds,
    )


def _voices(text: str, names: frozenset[str]) -> Iterator[tuple[str | None, str]]:
    """The parts of a cue, each with its speaker if the cue names one."""
    voices = [*_VOICE.finditer(text)]
    if voices:
        ends = [*(voice.start() for voice in voices[1:]), len(text)]
        parts: list[tuple[str | None, str]] = [(None, text[: voices[0].start()])]
        parts += [
            (html.unescape(voice["name"]).strip(), text[voice.end() : end])
            for voice, end in zip(voices, ends, strict=True)
        ]
    else:
        parts = list(_named(text, names))
    for name, part in parts:
        if said := " ".join(html.unescape(_TAG.sub("", part)).split()):
            yield name, said


def _named(text: str, names: frozenset[str]) -> Iterator[tuple[str | None, str]]:
    """The lines of a cue under the names before them."""
    current: tuple[str | None, str] = (None, "")
    for line in text.splitlines():
        named = _NAMED.match(_TAG.sub("", line))
        if named and named["name"].strip() in names:
            yield current
            current = (named["name"].strip(), named["text"])
        else:
            current = (current[0], f"{current[1]} {line}")
    yield current


def _may_speak(name: str) -> bool:
    return is_name(name) and not name[0].islower() and not is_label(name, is_certain=False)


def _start(path: Path, options: ImportOptions) -> tuple[datetime, str | None]:
    """The time at which a transcript begins, and what to say of it if no option does."""
    if options.start is not None:
        return options.start, None
    if recorded := _RECORDED_AT.search(path.name):
        at = datetime.strptime("".join(recorded.groups()), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return (
            at,
            f"times count from {at.isoformat()}, as the file's name says; --start gives another time",
        )
    at = datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(microsecond=0)
    return (
        at,
        f"times count from {at.isoformat()}, when the file was changed; --start gives another time",
    )
