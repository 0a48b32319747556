"""A repository that borrows objects of the host and runs programs of its own."""

import subprocess

repository, hook = os.environ["REPOSITORY"], "#!/bin/sh\necho hooked > hooked\n"
for folder in (".git/objects/info", ".git/hooks", ".git/refs"):
    os.makedirs(folder, exist_ok=True)
for path, text in {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/objects/info/alternates": f"{repository}/objects\n",
    ".git/hooks/post-checkout": hook,
    ".git/fsmonitor.sh": hook,
    ".git/config": "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = .git/fsmonitor.sh\n",
}.items():
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)
attempt("objects of the host", lambda: open(f"{repository}/objects/answer").read())
try:
    subprocess.run(["git", "status"], capture_output=True, timeout=10)
except OSError:
    pass
