"""Be a file when one looks, and a link to a secret when one reads."""

with open("data", "w") as file:
    file.write("mine")
os.write(int(os.environ.get("WORKGYM_CHANNEL", "1")), b"ready\n")
for _ in range(BOUND):
    os.symlink(os.environ["CANARY"], "spare")
    os.rename("spare", "data")
    with open("spare", "w") as file:
        file.write("mine")
    os.rename("spare", "data")
