"""Financial documents: how a typed answer is read, and how it is compared with the gold."""
