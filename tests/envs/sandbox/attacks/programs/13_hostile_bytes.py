"""Bytes that are no text, and text that plays with terminals."""

os.write(1, bytes(range(256)) + b"\xff\xfe\x00\xed\xa0\x80\x1b[2J\x1b]0;owned\x07\x1b[31m\r\x08\n")
