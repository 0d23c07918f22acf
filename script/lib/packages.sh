# shellcheck shell=bash
# install_packages PACKAGE…: those of these Debian packages that are missing; asks apt for nothing that is already there.
install_packages() {
  local package missing=() as_root=(env DEBIAN_FRONTEND=noninteractive)
  command -v dpkg-query >/dev/null || { echo "no Debian packages here; needed are $*" >&2; return 0; }
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "script/$(basename "$0"): as root: apt-get install ${missing[*]}" >&2; exit 1; }
    as_root=(sudo "${as_root[@]}")
  fi
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  # Another apt-get may be at work, such as the daily upgrades: wait for it.
  "${as_root[@]}" apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends "${missing[@]}" >/dev/null
}

# What the binary needs.
binary_packages=(
  g++ cmake ninja-build esbuild
  libhwy-dev libcli11-dev nlohmann-json3-dev libfmt-dev
  libicu-dev libsentencepiece-dev zlib1g-dev libgnutls28-dev
  libjpeg-dev libpng-dev
)
