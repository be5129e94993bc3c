"""The commands that ask about code: `definition`, `references`, `rename` and so on."""
