"""What is allowed in each root of a workspace, depending on trust."""

from __future__ import annotations

from lspkit.config.load import Loaded
from lspkit.config.trust.decision import trust_of
from lspkit.servers.restriction.trust_profile import Permit, Permits
from lspkit.workspace_boundary import is_inside, work_tree


def permits_of(loaded: Loaded, workspace: str, trusted: bool | None) -> Permits:
    """A function that returns the permit of a root, and looks each up once.

    A root inside the workspace may be trusted less than the workspace: another clone inside a
    trusted repository is not trusted. A folder may become such a clone later.
    """
    known: dict[tuple[str, str], Permit] = {}
    vouched = loaded.vouched

    def permit(root: str) -> Permit:
        key = (root, work_tree(root))
        if key not in known:
            standing = whole = loaded.standing
            if root != workspace:
                security = loaded.config.security
                standing = trust_of(None, root, {}, security, loaded.environ, trusted, workspace)
                # A part of a project is stale if the project is.
                if whole.state == "stale" and is_inside(root, whole.candidate):
                    standing = whole
            allowed, state = standing.allows_programs, standing.state
            known[key] = Permit(allowed, state, standing.remedy, vouched)
        return known[key]

    return permit
