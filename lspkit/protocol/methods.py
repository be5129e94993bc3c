"""Names of methods that more than one module needs."""

EXECUTE_COMMAND = "workspace/executeCommand"
APPLY_EDIT = "workspace/applyEdit"
PULL_DIAGNOSTICS = "textDocument/diagnostic"
PULL_WORKSPACE = "workspace/diagnostic"
