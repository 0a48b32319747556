"""Let whoever feeds it wait."""

linger()
