"""Family `function`: write a Python function from its description in words."""
