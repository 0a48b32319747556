"""`python -m workgym` is `workgym`."""

from __future__ import annotations

from workgym.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
