"""The command line: one module a command, each ``run(arguments, streams) -> exit code``."""
