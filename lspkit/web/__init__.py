"""The service over HTTP: its status, its events, the folders of conversations, and a page."""

from lspkit.web.http_address import Address, parse_address
from lspkit.web.http_server import HttpServer

__all__ = ["Address", "HttpServer", "parse_address"]
