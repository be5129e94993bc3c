"""Values as HTML and Markdown: pure functions."""

from lspkit.notebook.rendering.rich_values import html_of, markdown_of

__all__ = ["html_of", "markdown_of"]
