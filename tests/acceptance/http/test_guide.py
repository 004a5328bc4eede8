"""What the guide of the HTTP API shows a reader to type, run by a shell in its order."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.acceptance


@pytest.mark.usefixtures("worker")
def test_the_commands_of_the_guide_store_a_message_and_find_it(
    processes: Any,
    mnestic: str,
    root: Path,
    environment: dict[str, str],
    start_api: Callable[[], tuple[Any, str]],
) -> None:
    guide = (root / "docs" / "http.md").read_text(encoding="utf-8")
    to_make_key, requests = re.findall(r"```sh\n(.*?)```", guide, re.DOTALL)
    _, url = start_api()

    _, *words = shlex.split(to_make_key, comments=True)
    key = processes.run(mnestic, *words, "--json", env=environment).document["key"]
    done = processes.run(
        *("bash", "-e", "-c", requests.replace("http://127.0.0.1:8420", url)), env={"KEY": key}
    )

    assert done.code == 0, (done.out, done.err)
    stored, found = map(json.loads, done.out.replace("}{", "}\n{").splitlines())
    assert stored == {"received": 1, "new": 1}
    assert found["results"][0]["entry"]["content"] == "The gate code is 5531."
