"""Names of methods that more than one module needs."""

EXECUTE_COMMAND = "workspace/executeCommand"
APPLY_EDIT = "workspace/applyEdit"
DOCUMENT_SYMBOLS = "textDocument/documentSymbol"
REFERENCES = "textDocument/references"
PULL_DIAGNOSTICS = "textDocument/diagnostic"
PULL_WORKSPACE = "workspace/diagnostic"
