"""Readers of exports of other programs, item by item: chats, mail, subtitles and the dumps of other memories."""
