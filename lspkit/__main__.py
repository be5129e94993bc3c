"""`python -m lspkit`."""

import sys

from lspkit.cli import main

sys.exit(main())
