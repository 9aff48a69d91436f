"""Creates the virtual environment argv[1] with the packages argv[2:] unless it exists. Concurrent processes wait for the first."""

import fcntl
import os
import shutil
import subprocess
import sys

home, packages = sys.argv[1], sys.argv[2:]
os.makedirs(os.path.dirname(home), exist_ok=True)
with open(home + ".lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)  # the kernel releases it when its holder ends
    if not os.path.exists(home):
        draft = home + ".new"
        shutil.rmtree(draft, ignore_errors=True)
        pip = [os.path.join(draft, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for command in [[sys.executable, "-m", "venv", draft], [*pip, *packages]]:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                sys.exit(f"{' '.join(command[1:4])} failed: {done.stdout.strip()}")
        os.rename(draft, home)
