"""Quotations: somebody's words in a prompt, as material that cannot pass for anything else.

It stands alone because every prompt that holds somebody's words has to quote them by one rule.
"""

import json
from collections.abc import Mapping
from typing import Any

# JSON escapes quotation marks, backslashes and line feeds by itself. The rest of what could end a
# line, or the turn of a dialogue (`<|im_end|>`, `</s>`, `[/INST]`), is escaped as JSON knows it too.
_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "<[\x7f\x85\u2028\u2029"}


def quoted(words: Mapping[str, Any]) -> str:
    """An object of texts and numbers as one line of JSON, which nothing in it can end."""
    return json.dumps(dict(words), ensure_ascii=False).translate(_ENDS)
