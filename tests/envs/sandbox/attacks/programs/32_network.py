"""Reach the host, by every kind of socket."""

import socket
import time

PACKET_ALL = 0x0300


def tcp():
    socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), timeout=2).close()


def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", int(os.environ["UDP_PORT"])))
        for _ in range(3):  # where nobody listens the second one says so
            sender.send(b"a question, as to a name server")
            time.sleep(0.01)


def abstract():
    socket.socket(socket.AF_UNIX).connect("\0" + os.environ["ABSTRACT"])


def link_layer():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, PACKET_ALL)


def interfaces():
    return {name for _, name in socket.if_nameindex()} - {"lo"} != set()


attempt("tcp", tcp)
attempt("udp", udp)
attempt("an abstract socket", abstract)
attempt("a raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("a packet socket", link_layer)
attempt("interfaces", interfaces)
if BOUND > 1000:
    attempt("the world", lambda: socket.create_connection(("192.0.2.1", 53), timeout=0.5))
    attempt("the machine below", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).connect((2, 1)))
