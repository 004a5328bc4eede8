"""Recognises an export of another program by what is in it, and opens its reader.

Names of files say little: every JSON is `.json`, and every text `.txt`.
"""

import re
from pathlib import Path

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.conversations import MARKDOWN
from mnestic.starter.importers.export_files import is_export
from mnestic.starter.importers.programs.chatgpt import ChatGPTExport
from mnestic.starter.importers.programs.claude import ClaudeExport
from mnestic.starter.importers.programs.items import ImportOptions, ProgramExport
from mnestic.starter.importers.programs.json_items import JsonShape, find_shape
from mnestic.starter.importers.programs.langgraph import LangGraphStore
from mnestic.starter.importers.programs.markdown_folder import MarkdownFolder, markdown_files
from mnestic.starter.importers.programs.mbox import Mailbox
from mnestic.starter.importers.programs.mem0 import Mem0Dump
from mnestic.starter.importers.programs.slack import SlackExport, is_slack_folder
from mnestic.starter.importers.programs.telegram import OF_ACCOUNT, OF_CHAT, TelegramExport
from mnestic.starter.importers.programs.webvtt import WebVttTranscript
from mnestic.starter.importers.programs.whatsapp import WhatsAppChat, is_whatsapp

_MAIL = re.compile(r"From \S.*\d{4}\s*")
_IN_FOLDERS = (
    "conversations.json",
    "result.json",
    "_chat.txt",
    "mbox",
)  # in exports that are folders
_BYTES_LOOKED_AT = 4096
# The keys that all objects of an export have, and some of which they have one.
_BY_KEYS = (
    (ChatGPTExport, {"mapping"}, frozenset[str]()),
    (ClaudeExport, {"chat_messages"}, frozenset[str]()),
    (LangGraphStore, {"key", "value"}, frozenset({"namespace", "prefix"})),
    (Mem0Dump, {"id", "memory"}, frozenset[str]()),
)
_SLACK = frozenset({"text", "user", "subtype", "blocks"})


def find_export(path: Path, options: ImportOptions, *, source: str) -> ProgramExport | None:
    """The reader of an export; None if it is no export of a program that is known here.

    Args:
        path: A file, or the folder of an export.
        options: What the file does not say.
        source: How errors name it.

    Raises:
        InvalidInputError: there is no such file, it cannot be read, or a folder has no export.
    """
    if path.is_dir():
        inside = next((path / name for name in _IN_FOLDERS if (path / name).is_file()), None)
        if inside is None:
            return _folder_export(path, options, source=source)
        path = inside
    if not path.is_file():
        is_special = "is a pipe or a device; save it as a file first"
        why = is_special if path.exists() else "there is no such file"
        raise InvalidInputError(what=source, why=why)
    if path.suffix.lower() in MARKDOWN or is_export(path):
        return None
    first = _first_line(path, source)
    if first.startswith("WEBVTT"):
        return WebVttTranscript(path, options, source=source)
    if _MAIL.fullmatch(first):
        return Mailbox(path, options, source=source)
    if is_whatsapp(first):
        return WhatsAppChat(path, options, source=source)
    shape = find_shape(path, source) if first.lstrip().startswith(("[", "{")) else None
    return None if shape is None else _json_export(path, options, source=source, shape=shape)


def _folder_export(path: Path, options: ImportOptions, *, source: str) -> ProgramExport:
    """The reader of a folder: a Slack export, or Markdown."""
    if is_slack_folder(path):
        return SlackExport(path, options, source=source)
    if any(markdown_files(path)):
        return MarkdownFolder(path, options)
    why = (
        "is a folder without an export or Markdown: a Slack export has CHANNEL/2025-01-31.json, "
        "ChatGPT's and Claude's conversations.json, Telegram's result.json"
    )
    raise InvalidInputError(what=source, why=why)


def _json_export(
    path: Path, options: ImportOptions, *, source: str, shape: JsonShape
) -> ProgramExport | None:
    keys, prefix = shape.keys, shape.prefix
    if "ts" in keys and not keys.isdisjoint(_SLACK) and prefix == "item":
        return SlackExport(path, options, source=source)
    if prefix == "" and (keys >= OF_CHAT or OF_ACCOUNT in keys):
        return TelegramExport(path, options, source=source, is_account=OF_ACCOUNT in keys)
    for kind, all_of, one_of in _BY_KEYS:
        if all_of <= keys and (not one_of or not one_of.isdisjoint(keys)):
            return kind(path, options, source=source, prefix=prefix)
    return None


def _first_line(path: Path, source: str) -> str:
    """The first line that is not blank, as far as it is in the first bytes."""
    try:
        with path.open("rb") as file:
            text = file.read(_BYTES_LOOKED_AT).decode("utf-8-sig", "replace")
    except OSError as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error.strerror}") from error
    return next((line for line in text.split("\n") if line.strip()), "")
