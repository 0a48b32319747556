"""Files that run when somebody else starts something here."""

import sys

PLANT = "import os\nos.write(1, b'planted\\n')\n"
NAMES = ("sitecustomize.py", "usercustomize.py", "json.py", "unittest.py", "conftest.py", "pytest.ini", "plant.pth")
places = [".", "..", os.path.expanduser("~"), *sys.path, *os.environ["PATH"].split(":")]
if BOUND < 1000:
    places = ["."]  # a free process could
for place in places:
    for name in NAMES:
        try:
            with open(os.path.join(place, name), "x") as file:
                file.write(PLANT)
        except OSError:
            continue
        if os.path.realpath(place) != os.path.realpath("."):
            free(f"{place}/{name}")
for place in [".", *os.environ["PATH"].split(":")] if BOUND > 1000 else ["."]:
    for shim in ("python3", "ls", "git"):
        try:
            with open(os.path.join(place, shim), "x") as file:
                file.write("#!/bin/sh\necho planted\n")
            os.chmod(os.path.join(place, shim), 0o755)
        except OSError:
            continue
