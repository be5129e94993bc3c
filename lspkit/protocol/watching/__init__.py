"""Globs, and the registrations of servers for changes of files."""
