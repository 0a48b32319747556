"""Leave a program behind that no hangup reaches and no pipe holds."""

import subprocess

quiet = subprocess.DEVNULL
subprocess.Popen(["nohup", "sleep", "60"], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
os._exit(0)
