"""The arguments of commands: their parser, and the files and folders that they mean."""
