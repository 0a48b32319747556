"""What the command line does: one file a command, imported when the command is named."""
