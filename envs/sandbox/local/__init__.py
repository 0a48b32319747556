"""The local backend: namespaces, limits and a system call filter around children of a warm interpreter."""
