"""The service over HTTP: its status, its events, the folders of conversations, and a page."""

from lspkit.web.http_server import Address, HttpServer, parse_address

__all__ = ["Address", "HttpServer", "parse_address"]
