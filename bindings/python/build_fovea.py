"""The back end of `pip install .` (PEP 517): configures and builds the target fovea_python with CMake and packs the
package as a wheel. It needs what CMake needs (script/build lists it) and Debian's pybind11-dev; nothing is downloaded.

FOVEA_BUILD_DIR names a build folder to use instead of build/pip, as one that is there already."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def version():
    text = (ROOT / "include/fovea/version.hpp").read_text()
    return ".".join(re.findall(r"#define FOVEA_VERSION_[A-Z]+ ([0-9]+)", text))


def build():
    folder = Path(os.environ.get("FOVEA_BUILD_DIR", ROOT / "build/pip"))
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DFOVEA_PYTHON=ON",
                        f"-DPython_EXECUTABLE={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "fovea_python"], check=True)
    return folder / "python/fovea"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = build()
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    name = f"fovea-{version()}-{tag}-{tag}-{platform}.whl"
    info = f"fovea-{version()}.dist-info"
    files = {f"fovea/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.is_file()}
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: fovea\nVersion: {version()}\nSummary: Attention for C++, and from Python\n"
        "License: MIT\nRequires-Python: >=3.9\nRequires-Dist: numpy\n").encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: fovea\nRoot-Is-Purelib: false\nTag: {tag}-{tag}-{platform}\n".encode()
    record = ""
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("Fovea is installed from its source folder: pip install .")
