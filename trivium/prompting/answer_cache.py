"""Answers that were paid for, kept for ever: one JSON object a line, only ever appended to.

A line is forced to disk before the next question is asked, so a killed run loses at most the answers in flight. What a
kill or a full disk cut short is no JSON: it is counted and passed over, and the next line starts afresh.
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
    """An endpoint's answer.

    Attributes:
        content: the model's words.
        finish: why it stopped: `stop`, `length` (cut at max_tokens), or whatever the endpoint says.
        prompt_tokens, completion_tokens: what was paid for; 0 where the endpoint does not say.
        reasoning: characters that the model thought aloud before its words, and that were cut off.
    """

    content: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    reasoning: int = 0

    @property
    def final(self) -> bool:
        """Whether it may be kept: words, or silence by the model's own will (no filter, tool call or max_tokens)."""
        return bool(self.content.strip()) or self.finish == "stop"


def without_thoughts(content: str) -> tuple[str, int]:
    """A reply without `<think>…</think>`, and how many characters were cut off.

    Thoughts that never end (cut at max_tokens) go to the end; where the chat template has opened the tag already, the
    reply only closes it, and all before is thought.
    """
    kept = _THOUGHTS.sub("", content)
    return (kept, 0) if kept == content else (kept.strip(), len(content) - len(kept))


def key_of(model: str, messages: list[dict[str, Any]], sampling: Mapping[str, Any]) -> str:
    """sha256 of everything that decides an answer, in hexadecimal digits.

    The endpoint's address is not among it: a local server on another port, or another host of the same model, would be
    paid for again. Other weights need another name of the model, therefore.
    """
    request = {"model": model, "messages": messages, "sampling": dict(sampling)}
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


class AnswerCache:
    """Replies by key, in a folder; several threads and processes may write. Of two replies to a key the first counts.

    Attributes:
        broken: lines that are no record, such as one cut short by a kill.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self._replies: dict[str, Reply] = {}
        self._lines: dict[str, bytes] = {}
        self.broken = 0
        self._size = 0  # bytes that were read
        self._refresh()

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, key: str) -> Reply | None:
        """The reply to a key; None where none is kept."""
        return self._replies.get(key)

    def put(self, key: str, reply: Reply, *, model: str) -> None:
        """Append a reply; on return it is on disk. What cannot be written (OSError) is not kept."""
        line = json.dumps({"key": key, "model": model, **asdict(reply)}).encode()
        self._append(line + b"\n")
        self._lines[key], self._replies[key] = line, reply

    def merge(self, folder: Path) -> None:
        """Append the answers of another folder that are lacking here; its broken lines are counted, too."""
        path = folder / FILE
        before = len(self._lines)
        self._take(path.read_bytes() if path.is_file() else b"")
        if new := list(self._lines.values())[before:]:
            self._append(b"".join(line + b"\n" for line in new))

    def copy_to(self, folder: Path) -> None:
        """Make another folder hold these answers and no other; its file is replaced, as DVC may have linked it."""
        with write_atomically(folder / FILE) as draft:
            draft.write_bytes(b"".join(line + b"\n" for line in self._lines.values()))

    @contextmanager
    def alone(self, model: str, waiting: str = "") -> Iterator[None]:
        """Let no other run ask a model meanwhile, and take the answers that others have kept before.

        `waiting` is printed where another run asks the model just now.
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
        """The file at its start, to read and to append to; no other thread or process has it."""
        # Buffered: a raw write may take less than the whole line and not say so.
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
            words, cut = without_thoughts(texts[1])  # older lines have all that was said
            self._replies.setdefault(texts[0], Reply(words, texts[2], *numbers[:2], numbers[2] + cut))
