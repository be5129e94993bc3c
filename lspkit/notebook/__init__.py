"""lspkit in IPython and notebooks.

`import lspkit` in a notebook enables the tables; `%load_ext lspkit` adds the magic `%lsp`. This
package is imported with lspkit there, so it imports the rest only when it is used.
"""

from lspkit.notebook.extension import (
    enable,
    load_ipython_extension,
    unload_ipython_extension,
)

__all__ = ["enable", "load_ipython_extension", "unload_ipython_extension"]
