"""Wikimedia Commons on loopback, as far as previews of named files go: its API, and the previews; it can be rude.

As https://www.mediawiki.org/wiki/Common_thumbnail_sizes says, it serves previews of standard widths alone: the API gives
the address of the next larger one, and any other is answered with 400 and a text that names the page.
"""

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, quote, unquote, urlsplit

from tests.sources.loopback import listening

WIDTHS = (20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840)
REFUSAL = b"Use thumbnail steps listed on https://w.wiki/GHai. Please contact noc@wikimedia.org for further information"


@dataclass
class SmallCommons:
    """What there is, and how to serve it.

    Attributes:
        files: bytes of a file's preview, by its name with blanks.
        moved: new names by old ones.
        answers: of a preview or of `api`: (status, Retry-After) of the next requests, before it is served.
        cut: of a preview: after how many bytes the connection ends, for the next requests.
        asked: how often each preview was asked for; `api`: questions.
        widths: of the previews that it serves, pixels.
        agents: all that the clients called themselves.
        together: the most requests for previews at once.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    answers: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    cut: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    asked: Counter[str] = field(default_factory=Counter)
    agents: set[str] = field(default_factory=set)
    together: int = 0
    widths: tuple[int, ...] = WIDTHS
    url: str = ""

    @property
    def api(self) -> str:
        return f"{self.url}/w/api.php"

    def answer(self, titles: list[str], width: int) -> dict[str, object]:
        """As `action=query&prop=imageinfo&redirects=1` answers."""
        names = {title: title.removeprefix("File:") for title in titles}
        redirects = [
            {"from": title, "to": f"File:{self.moved[name]}"} for title, name in names.items() if name in self.moved
        ]
        served, pages = next(each for each in WIDTHS if each >= width), []
        for number, name in enumerate({self.moved.get(name, name) for name in names.values()}, 1):
            page: dict[str, object] = {"ns": 6, "title": f"File:{name}"}
            if name in self.files:
                page_name = quote(name.replace(" ", "_"))
                address = f"{self.url}/thumb/{page_name}/{served}px-{page_name}"
                page |= {"pageid": number, "imageinfo": [{"url": f"{self.url}/{quote(name)}", "thumburl": address}]}
            else:
                page["missing"] = True
            pages.append(page)
        return {"batchcomplete": True, "query": {"redirects": redirects, "pages": pages}}


@contextmanager
def serve_commons() -> Iterator[SmallCommons]:
    """Serve it until the block ends."""
    state, lock, now = SmallCommons(), threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            name = unquote(address.path).split("/")[2].replace("_", " ") if "/thumb/" in address.path else "api"
            with lock:
                state.asked[name] += 1
                state.agents.add(self.headers.get("User-Agent", ""))
                now[0] += name != "api"
                state.together = max(state.together, now[0])
            try:
                if state.answers[name]:
                    status, after = state.answers[name].pop(0)
                    self._send(status, b"", after)
                elif name == "api":
                    asked = {key: values[0] for key, values in parse_qs(address.query).items()}
                    answer = state.answer(asked["titles"].split("|"), int(asked["iiurlwidth"]))
                    self._send(200, json.dumps(answer).encode())
                elif int(address.path.rpartition("/")[2].partition("px-")[0]) not in state.widths:
                    self._send(400, REFUSAL)
                else:
                    self._send(200, state.files[name], cut=state.cut[name].pop(0) if state.cut[name] else None)
            finally:
                with lock:
                    now[0] -= name != "api"

        def _send(self, status: int, body: bytes, after: str = "", cut: int | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if status == 400:
                self.send_header("Content-Type", "text/plain; charset=utf-8")
            if after:
                self.send_header("Retry-After", after)
            self.end_headers()
            self.wfile.write(body[:cut])
            self.close_connection = cut is not None

    with listening(Handler) as state.url:
        yield state
