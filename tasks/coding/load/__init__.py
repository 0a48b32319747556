"""Importers of public task files, one module a format."""
