"""Who may ask for what: the page's own addresses, from this page or from none, with the token if there is one.

A page elsewhere reaches a server on this machine by a name of its own that it points here (DNS rebinding): such a
request carries that name as its Host. Or it sends a request without reading the answer: such a one carries its Origin,
or says `cross-site` in Sec-Fetch-Site.
"""

import base64
import binascii
import hmac
import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import NamedTuple

# All of gradio that the page and gradio's own client use; proxies, editors, monitoring and direct calls are not there.
ROUTES = {
    "GET": re.compile(
        r"/|/(theme\.css|manifest\.json|favicon\.ico|robots\.txt|config)|/(assets|static)/.*|"
        r"/gradio_api/(info|app_id|startup-events|queue/data|upload_progress|heartbeat/\w+|call/ask/\w+|file=/.*)"
    ),
    "POST": re.compile(r"/gradio_api/(upload|queue/join|call/ask|cancel|reset)"),
}
ROUTES["HEAD"] = ROUTES["GET"]


class Refusal(NamedTuple):
    """Why a request goes no further."""

    status: int
    reason: str


class Doors:
    """What a request must look like.

    Args:
        host: address or name that the server listens on.
        token: what every request must bring as the password of HTTP's Basic authentication; None where none is wanted.
    """

    def __init__(self, host: str, token: str | None) -> None:
        self._names = {"localhost", host.lower()}
        if not is_loopback(host):
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        self._loopback, self._token = is_loopback(host), token

    def refusal(self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> Refusal | None:
        """Why this request is refused; None where it is not.

        Args:
            method, path: the path decoded.
            headers: names in lower case, as ASGI has them.
        """
        found: dict[str, list[str]] = {}
        for name, value in headers:
            found.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
        hosts = found.get("host", [])
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return Refusal(421, "this server has another name")
        if any(origin != f"http://{hosts[0]}" for origin in found.get("origin", [])):
            return Refusal(403, "another page may not ask")
        if path != "/" and not set(found.get("sec-fetch-site", [])) <= {"same-origin", "none"}:
            return Refusal(403, "another page may not ask")
        if self._token is not None and not _brings(found.get("authorization", []), self._token):
            return Refusal(401, "the token is wanted, as the password of any user")
        if method not in ROUTES or not ROUTES[method].fullmatch(path):
            return Refusal(404, "there is nothing here")
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether a Host header names this server; an address cannot be pointed elsewhere, a name can."""
        match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(:\d{1,5})?", host)
        if match is None:
            return False
        name = match[1].strip("[]").lower()
        return name in self._names or is_loopback(name) or (not self._loopback and _is_address(name))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address, or `localhost`."""
    return host.lower() == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _brings(authorizations: list[str], token: str) -> bool:
    """Whether the one Authorization header is `Basic` with any user and this password."""
    if len(authorizations) != 1:
        return False
    scheme, _, encoded = authorizations[0].partition(" ")
    try:
        _, _, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return False
    return scheme.lower() == "basic" and hmac.compare_digest(password, token.encode())
