"""Answers that were paid for, kept for ever: one JSON object a line, only ever appended to.

A line is forced to disk before the next question is asked, so a killed run loses at most the answers in flight. What a
kill or a full disk cut short is no JSON: it is counted and passed over, and the next line starts afresh.
"""

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stages.tables import write_atomically

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

    @property
    def final(self) -> bool:
        """Words, or silence by the model's own will; not silence after a filter, a tool call, or at max_tokens."""
        return bool(self.content.strip()) or self.finish == "stop"


def key_of(model: str, messages: list[dict[str, str]], sampling: Mapping[str, float]) -> str:
    """sha256 of everything that decides an answer, in hexadecimal digits.

    The endpoint's address is not among it: a local server on another port, or another host of the same model, would be
    paid for again. Other weights need another name of the model, therefore.
    """
    asked = {"model": model, "messages": messages, "sampling": dict(sampling)}
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
        """Append a reply; on return it is on disk.

        Raises:
            OSError: the disk is full, say; the reply is not kept then.
        """
        line = json.dumps({"key": key, "model": model, **asdict(reply)}).encode() + b"\n"
        with self._lock:
            if self._cut_short:
                line = b"\n" + line
            self._cut_short = True
            # Buffered: a raw write may take less than the whole line and not say so.
            with self._path.open("ab") as out:
                out.write(line)
                out.flush()
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


def merge_answers(source: Path, target: Path) -> int:
    """Add to a folder's answers the lines of another folder that it lacks; returns how many.

    A line cut short stays behind; nothing is written when nothing is new. The file is replaced, since DVC may have
    linked it to its own cache.
    """
    if not (source / FILE).is_file():
        return 0
    path = target / FILE
    here = path.read_bytes() if path.is_file() else b""
    known = set(here.split(b"\n"))
    whole = (source / FILE).read_bytes().split(b"\n")[:-1]
    new = [line for line in dict.fromkeys(whole) if line not in known]
    if new:
        here += b"\n" if here and not here.endswith(b"\n") else b""
        with write_atomically(path) as beside:
            beside.write_bytes(here + b"".join(line + b"\n" for line in new))
    return len(new)
