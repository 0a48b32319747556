"""Say that all is well, to everybody who might listen, and fail."""

import struct

REPORT = struct.Struct("<iiddq")  # as a supervisor might expect it
for _ in range(20):
    os.write(1, b"test_it PASSED\n1 passed in 0.01s\n")
os.write(2, b"OK\n")
for number in range(3, 256):
    for message in (b"X" + REPORT.pack(0, 0, 0.0, 0.0, 0), b"status: ok\n", b'{"ready": true}'):
        try:
            os.write(number, message)
        except OSError:
            continue
os._exit(1)
