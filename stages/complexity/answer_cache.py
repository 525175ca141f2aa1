"""Answers that were paid for, kept for ever: one JSON object a line, only ever appended to.

A line is written with one call and forced to disk before the next question is asked, so a killed run loses at most the
answers in flight. What a kill cut short is no JSON: it is counted and passed over, and the next line starts afresh.
"""

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE = "answers.jsonl"


@dataclass(frozen=True)
class Reply:
    """What an endpoint answered.

    Attributes:
        content: the model's words.
        finish: why it stopped: `stop`, `length` (cut at max_tokens), or whatever the endpoint says.
        prompt_tokens, completion_tokens: what was paid for; 0 where the endpoint does not say.
    """

    content: str
    finish: str
    prompt_tokens: int
    completion_tokens: int


def key_of(endpoint: str, model: str, messages: list[dict[str, str]], sampling: Mapping[str, float]) -> str:
    """sha256 of everything that decides an answer, in hexadecimal digits."""
    asked = {"endpoint": endpoint, "model": model, "messages": messages, "sampling": dict(sampling)}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


class AnswerCache:
    """Replies by key, in a folder; several threads may write.

    Attributes:
        broken: lines that are no record, such as one cut short by a kill.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self._path.touch()
        self._lock = threading.Lock()
        self._replies: dict[str, Reply] = {}
        self.broken = 0
        content = self._path.read_bytes()
        for line in content.splitlines():
            self._take(line)
        self._cut_short = bool(content) and not content.endswith(b"\n")

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, key: str) -> Reply | None:
        """The reply that is there."""
        return self._replies.get(key)

    def put(self, key: str, reply: Reply, *, model: str) -> None:
        """Append a reply; on return it is on disk."""
        line = json.dumps({"key": key, "model": model, **asdict(reply)}).encode() + b"\n"
        with self._lock:
            if self._cut_short:
                line = b"\n" + line
            with self._path.open("ab", buffering=0) as out:
                out.write(line)
                os.fsync(out.fileno())
            self._cut_short = False
            self._replies[key] = reply

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            record: Any = json.loads(line)
            numbers = (record["prompt_tokens"], record["completion_tokens"])
            texts = (record["key"], record["content"], record["finish"])
            if not all(isinstance(text, str) for text in texts) or not all(type(number) is int for number in numbers):
                raise TypeError("not a record")
        except (ValueError, TypeError, KeyError):
            self.broken += 1
            return
        self._replies[texts[0]] = Reply(texts[1], texts[2], *numbers)
