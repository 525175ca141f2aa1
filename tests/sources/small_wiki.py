"""A MediaWiki API on loopback: Commons' categories and files, Wikibase entities; and the pictures themselves."""

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from tests.sources.loopback import listening


@dataclass
class SmallWiki:
    """Answers of the API.

    `categories`: files by category, each a page as `prop=imageinfo|categories` gives it; its categories come one in
    a part, which the next question asks for; `entities`: by id; `pictures`: by path;
    `answers` come first, whatever is asked. What was asked is in `requests` (parameters, headers).
    """

    categories: dict[str, list[dict]] = field(default_factory=dict)
    entities: dict[str, dict] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    answers: list[bytes] = field(default_factory=list)
    part: int = 2  # files in a part of an answer
    requests: list[tuple[dict[str, str], dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def asked(self, action):
        return [parameters for parameters, _ in self.requests if parameters.get("action") == action]

    def page(self, number, title, *, mime="image/jpeg", categories=(), **metadata):
        path = f"/thumb/{number}/500px-x.jpg"
        self.pictures[path] = f"picture {number}".encode()
        information = {
            "thumburl": f"{self.url}{path}",
            "url": f"{self.url}/full/{number}.jpg",
            "sha1": f"{number:040x}",
            "mime": mime,
            "extmetadata": {name: {"value": value, "source": "commons-desc-page"} for name, value in metadata.items()},
        }
        listed = [{"ns": 14, "title": f"Category:{name}"} for name in categories]
        return {"pageid": number, "ns": 6, "title": title, "imageinfo": [information], "categories": listed}

    def answer(self, parameters):
        if self.answers:
            return self.answers.pop(0)
        if parameters["action"] == "wbgetentities":
            ids = parameters["ids"].split("|")
            found = {each: self.entities.get(each, {"id": each, "missing": ""}) for each in ids}
            return json.dumps({"entities": found, "success": 1}).encode()
        pages = self.categories.get(parameters["gcmtitle"].removeprefix("Category:"), [])
        start, place = int(parameters.get("gcmcontinue", 0)), int(parameters.get("clcontinue", 0))
        batch = pages[start : start + self.part]
        answer = {"query": {"pages": [self._part(page, place) for page in batch]}} if pages else {}
        if any(len(page["categories"]) > place + 1 for page in batch):
            answer["continue"] = {"clcontinue": str(place + 1), "continue": "||imageinfo"}
            answer["continue"] |= {"gcmcontinue": str(start)} if start else {}
            return json.dumps(answer).encode()
        answer["batchcomplete"] = True
        if start + self.part < len(pages):
            answer["continue"] = {"gcmcontinue": str(start + self.part), "continue": "gcmcontinue||"}
        return json.dumps(answer).encode()

    @staticmethod
    def _part(page, place):
        part = {name: page[name] for name in ("pageid", "ns", "title")}
        part |= {"imageinfo": page["imageinfo"]} if place == 0 else {}
        here = page["categories"][place : place + 1]
        return part | ({"categories": here} if here else {})


@contextmanager
def serve_wiki():
    state = SmallWiki()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            address = urlsplit(self.path)
            parameters = {key: values[0] for key, values in parse_qs(address.query).items()}
            state.requests.append((parameters or {"path": address.path}, dict(self.headers)))
            body = state.answer(parameters) if parameters else state.pictures.get(address.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

    with listening(Handler) as state.url:
        yield state
