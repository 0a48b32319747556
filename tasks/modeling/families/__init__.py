"""The families of the modeling domain: what is asked, and what would be right."""
