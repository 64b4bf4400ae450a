"""Writes a wheel (PEP 427): python3 wheel.py VERSION DIRECTORY. The standard library has no builder of its own."""
import base64
import hashlib
import os
import re
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    version, out = sys.argv[1], sys.argv[2]
    # What is no release has no version that Python would take.
    version = version[1:] if re.fullmatch(r"v\d+\.\d+\.\d+", version) else "0.0.0.dev0"
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    info = "rimewatch-%s.dist-info/" % version
    package = os.path.join(HERE, "rimewatch")
    files = {"rimewatch/" + name: read(os.path.join(package, name)) for name in sorted(os.listdir(package)) if name.endswith((".py", ".typed"))}
    files[info + "METADATA"] = (
        "Metadata-Version: 2.1\nName: rimewatch\nVersion: %s\nSummary: Client of the Rimewatch API: commercial refrigeration, watched.\n"
        "License: Apache-2.0\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n%s" % (version, readme)).encode()
    files[info + "WHEEL"] = b"Wheel-Version: 1.0\nGenerator: rimewatch\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join("%s,sha256=%s,%d\n" % (n, base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b"=").decode(), len(b)) for n, b in files.items())
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    os.makedirs(out, exist_ok=True)
    with zipfile.ZipFile(os.path.join(out, "rimewatch-%s-py3-none-any.whl" % version), "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


def read(path):
    with open(path, "rb") as f:
        return f.read()


main()
