"""Append-only cache of paid answers: one JSON object a line.

A line is flushed to disk before the next question is sent, so a killed run loses at most the answers in flight. A line
that a kill or a full disk cut short is not JSON: it is counted and skipped.
"""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from trivium.core.atomic import write_atomically

FILE = "answers.jsonl"
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)|\A(?:(?!<think>).)*</think>", re.DOTALL)


@dataclass(frozen=True)
class Reply:
    """An endpoint's answer."""

    content: str  # the model's words
    finish: str  # why it stopped: `stop`, `length` (cut at max_tokens), or whatever the endpoint says
    prompt_tokens: int  # paid for; 0 where the endpoint does not say
    completion_tokens: int
    reasoning: int = 0  # characters of the model's reasoning, which were cut off

    @property
    def final(self) -> bool:
        """Whether it may be cached: it has words, or the model itself stopped (no filter, tool call or max_tokens)."""
        return bool(self.content.strip()) or self.finish == "stop"


def without_thoughts(content: str) -> tuple[str, int]:
    """Cut `<think>…</think>` off a reply; returns also how many characters were cut.

    Reasoning without a closing tag (cut at max_tokens) extends to the end. Where the chat template has opened the tag,
    the reply only closes it, and all before is reasoning.
    """
    kept = _THOUGHTS.sub("", content)
    return (kept, 0) if kept == content else (kept.strip(), len(content) - len(kept))


def key_of(model: str, messages: list[dict[str, Any]], sampling: Mapping[str, Any]) -> str:
    """Compute the SHA-256 of everything that decides an answer, as hexadecimal digits.

    The endpoint's address is not part of it, or the same model on another port or host would be paid for again. So
    other weights need another model name.
    """
    request = {"model": model, "messages": messages, "sampling": dict(sampling)}
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


class AnswerCache:
    """Replies by key, in a folder that several threads and processes may write. The first reply to a key counts.

    Attributes:
        broken: number of lines that are not records, such as one cut short by a kill.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self._replies: dict[str, Reply] = {}
        self._lines: dict[str, bytes] = {}
        self.broken = 0
        self._size = 0  # bytes read so far
        self._refresh()

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, key: str) -> Reply | None:
        """Return the reply to a key; None where there is none."""
        return self._replies.get(key)

    def put(self, key: str, reply: Reply, *, model: str) -> None:
        """Append a reply; on return it is on disk. `OSError`: it cannot be written, and is not kept."""
        line = json.dumps({"key": key, "model": model, **asdict(reply)}).encode()
        self._append(line + b"\n")
        self._lines[key], self._replies[key] = line, reply

    def merge(self, folder: Path) -> None:
        """Append the answers of another folder that are missing here; its broken lines are counted, too."""
        path = folder / FILE
        before = len(self._lines)
        self._take(path.read_bytes() if path.is_file() else b"")
        if new := list(self._lines.values())[before:]:
            self._append(b"".join(line + b"\n" for line in new))

    def copy_to(self, folder: Path) -> None:
        """Write exactly these answers to another folder; its file is replaced, since DVC may have linked it."""
        with write_atomically(folder / FILE) as draft:
            draft.write_bytes(b"".join(line + b"\n" for line in self._lines.values()))

    @contextmanager
    def lock_model(self, model: str, waiting: str = "") -> Iterator[None]:
        """Lock a model against other runs, and read the answers that they have written.

        `waiting` is printed if another run holds the lock.
        """
        name = hashlib.sha256(model.encode()).hexdigest()[:16]
        with self._path.with_name(f"{name}.lock").open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting:
                    print(waiting, flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
            self._refresh()
            yield

    def _refresh(self) -> None:
        with self._locked() as file:
            file.seek(self._size)
            content = file.read()
        self._size += len(content)
        self._take(content)

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """Open the file to read and append, locked against other threads and processes; the position is its start."""
        # Buffered: a raw write may write only part of the line, without an error.
        with self._path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            yield file

    def _append(self, lines: bytes) -> None:
        with self._locked() as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                lines = lines if file.read() == b"\n" else b"\n" + lines
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())

    def _take(self, content: bytes) -> None:
        for line in content.splitlines():
            if not line.strip():
                continue
            try:
                record: Any = json.loads(line)
                texts = (record["key"], record["content"], record["finish"])
                numbers = (record["prompt_tokens"], record["completion_tokens"], record.get("reasoning", 0))
                if {*map(type, texts)} != {str} or {*map(type, numbers)} != {int}:
                    raise TypeError("not a record")
            except (ValueError, TypeError, KeyError):
                self.broken += 1
                continue
            self._lines.setdefault(texts[0], line)
            words, cut = without_thoughts(texts[1])  # older lines contain the reasoning
            self._replies.setdefault(texts[0], Reply(words, texts[2], *numbers[:2], numbers[2] + cut))
