"""End before anybody has looked, with a code that says what is not so."""

import atexit

atexit.register(os.write, 1, b"never\n")
os.write(1, b"all tests passed\n")
os._exit(int(os.environ["CODE"]))
