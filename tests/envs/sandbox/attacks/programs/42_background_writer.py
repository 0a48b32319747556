"""Hand in, and go on writing."""

import time

with open("answer", "w") as file:
    file.write("first")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in range(600):
            time.sleep(0.001)
            with open("answer", "w") as file:
                file.write(f"later {n}")
    os._exit(0)
os.wait()
time.sleep(0.02)
os._exit(0)
