"""An archive, and names in the workspace, that lead out of wherever they are unpacked."""

import io
import tarfile

with tarfile.open("out.tar", "w") as archive:
    for name in ("../planted", "/workgym-planted"):
        member = tarfile.TarInfo(name)
        member.size = 4
        archive.addfile(member, io.BytesIO(b"evil"))
os.symlink(os.path.dirname(os.environ["CANARY"]), "out")
os.symlink("/", "root")
for name in ("...", "-rf", "a\nb", "\\", "~", b"\xff\xfe"):
    with open(name, "w") as file:
        file.write("odd")
