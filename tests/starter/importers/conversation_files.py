"""Files of conversations: JSON lines, and documents in LoCoMo's shape."""

import json
from pathlib import Path
from typing import Any


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def line(content: str, timestamp: str, **more: Any) -> dict[str, Any]:
    return {"role": "Ana", "content": content, "timestamp": timestamp, **more}


def locomo_sample(sample_id: str = "s-1") -> dict[str, Any]:
    return {
        "sample_id": sample_id,
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_2_date_time": "12:05 am on 1 January, 2024",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Happy new year!"}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": " Hello Ben. "},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red boat"},
                {"speaker": "Ana", "dia_id": "D1:3", "text": "", "blip_caption": "a blue boat"},
            ],
            "session_3_date_time": "9:00 am on 2 January, 2024",
            "session_4_date_time": "9:00 am on 3 January, 2024",
            "session_4": [],
        },
        "qa": [],
    }
