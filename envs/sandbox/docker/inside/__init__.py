"""What runs inside a container: loaded there from source, never imported here but for its names."""

__all__: list[str] = []
