"""`lspkit check`: which files it checks, what is new in them, and the forms of its result."""
