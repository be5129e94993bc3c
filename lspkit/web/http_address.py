"""The address that the HTTP server listens on: one that only this machine can reach."""

from __future__ import annotations

import ipaddress
import re
import socket

import msgspec


class Address(msgspec.Struct, frozen=True):
    """A loopback address and a port; the port 0 stands for any free one."""

    host: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        """IPv4 or IPv6."""
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    @property
    def url(self) -> str:
        """Without a slash at its end."""
        return f"http://{self._name}:{self.port}"

    @property
    def _name(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    def host_headers(self) -> list[str]:
        """The values of `Host` that name this address."""
        return [f"{self._name}:{self.port}", f"localhost:{self.port}"]


def parse_address(word: str) -> Address:
    """`127.0.0.1:8080`, `[::1]:0` or `localhost:0`. Raises a `ValueError` if it is no loopback."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+):([0-9]{1,5})", word)
    if found is None or int(found[2]) > 65535:
        raise ValueError(f"expected 127.0.0.1:PORT, found {word!r}")
    host = "127.0.0.1" if found[1].lower() == "localhost" else found[1].strip("[]")
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise ValueError(f"only this machine may reach it: 127.0.0.1:PORT, not {word!r}")
    return Address(str(ipaddress.ip_address(host)), int(found[2]))
