"""The commands that ask about code: `definition`, `references`, `rename`, `status` and so on."""
