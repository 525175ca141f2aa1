"""Queries to a MediaWiki API; each answer is kept in a file, so that a run that was killed does not repeat them."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.sources.download import Request, download

# Wikimedia asks clients to say who they are (https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy).
# As CITATION.cff does, it names the software and its authors: the project has no address of its own.
AGENT = "Trivium/0.1 (research software of the Trivium authors, builds a question answering data set) httpx"
TOGETHER = 50  # ids or titles that an anonymous client may ask for at once


@dataclass(frozen=True)
class MediaWiki:
    """One wiki's API.

    Attributes:
        url: such as `https://commons.wikimedia.org/w/api.php`.
        folder: where answers are kept.
    """

    url: str
    folder: Path

    def ask(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        """One answer, as JSON.

        Raises:
            BadInput: see `download`; or the API answers with an error, or with something else than JSON.
        """
        query = urlencode(sorted({"format": "json", "formatversion": "2", **parameters}.items()))
        kept = self.folder / f"{hashlib.sha256(f'{self.url}?{query}'.encode()).hexdigest()[:32]}.json"
        what = f"{self.url} {parameters.get('action', '')}"
        download(Request(f"{self.url}?{query}", what, agent=AGENT), kept)
        try:
            answer = read_json(kept)
        except BadInput:
            kept.unlink()
            raise
        if not isinstance(answer, dict) or "error" in answer:
            kept.unlink()
            error = answer.get("error") if isinstance(answer, dict) else answer
            raise BadInput("the API answers with an error", file=self.url, got=error, field=query)
        return answer

    def pages(self, parameters: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """The pages of a query, over all the parts in which the API hands them out.

        A page with long lists comes in several parts too, all within a batch of pages: its lists are put together.
        """
        following: dict[str, str] = {}
        batch: dict[int, dict[str, Any]] = {}
        while True:
            answer = self.ask({**parameters, "action": "query", **following})
            for part in answer.get("query", {}).get("pages", ()):
                page = batch.setdefault(part["pageid"], {})
                for name, value in part.items():
                    page[name] = [*page.get(name, ()), *value] if isinstance(value, list) else value
            if answer.get("batchcomplete") or "continue" not in answer:
                yield from batch.values()
                batch = {}
            if "continue" not in answer:
                return
            following = {key: str(value) for key, value in answer["continue"].items()}

    def entities(self, identifiers: Sequence[str], properties: str) -> Iterator[dict[str, Any]]:
        """Stream Wikibase entities by id, those that exist, in this order; texts in English and for all languages."""
        for start in range(0, len(identifiers), TOGETHER):
            batch = identifiers[start : start + TOGETHER]
            parameters = {"action": "wbgetentities", "ids": "|".join(batch), "props": properties}
            answer = self.ask({**parameters, "languages": "en|mul"}).get("entities", {}).values()
            # One that was merged into another comes under the other's id, which may be asked for too.
            by_id = {entity["id"]: entity for entity in answer}
            by_id |= {entity.get("redirects", {}).get("from", entity["id"]): entity for entity in answer}
            yield from (by_id[name] for name in batch if "missing" not in by_id.get(name, {"missing": ""}))
