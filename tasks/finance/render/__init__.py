"""Filings as files: one module for each format."""
