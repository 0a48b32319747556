"""The modeling domain: an agent makes a part, and only the file that it exports is judged."""
