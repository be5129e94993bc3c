"""Watching files on disk: exact events, soon after each change. Others use `Watcher`."""
