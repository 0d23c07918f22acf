# For tests that need packages from npm; sourced with $source (holds package.json) and $build set.
# shellcheck shell=sh disable=SC2154
skip() { echo "skipped: $*"; exit 77; }

# fetch_packages: package.json's packages in $build/node_modules. What is done already is not done again; ends with 77
# (skipped) where npm is missing or cannot fetch.
fetch_packages() {
  command -v node >/dev/null || skip "no node (Debian: nodejs)"
  command -v npm >/dev/null || skip "no npm (Debian: npm)"
  mkdir -p "$build"
  if cmp -s "$source/package.json" "$build/node_modules/.installed.json"; then return; fi
  cp "$source/package.json" "$build/package.json"
  if ! (cd "$build" && npm install --no-audit --no-fund --no-package-lock --ignore-scripts --fetch-retries=1 --fetch-timeout=60000 --loglevel=error) >"$build/npm.log" 2>&1; then
    cat "$build/npm.log"
    if grep -q 'ETARGET\|E404' "$build/npm.log"; then exit 1; fi  # a version that does not exist is our mistake
    skip "npm could not fetch its packages (no network?)"
  fi
  cp "$source/package.json" "$build/node_modules/.installed.json"
}
