#!/usr/bin/env bash
# ./run with stand-ins for setup, build and program: what it calls, with which options, and how it ends.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"/{tools,models,build/release}
cp "$root/run" "$folder/"
printf '#!/bin/bash\nexit "${SETUP:-0}"\n' >"$folder/tools/setup"
printf '#!/bin/bash\nexit "${BUILD:-0}"\n' >"$folder/tools/build"
printf '#!/bin/bash\necho "$@"\n[ "$1" = check ] && exit "${CHECK:-0}"\nexit "${ACCELERATE:-0}"\n' >"$folder/build/release/mechanician"
chmod +x "$folder"/tools/* "$folder/build/release/mechanician"
printf 'title = "A bead on a wire"   # and more\ncoordinates = ["x"]\n' >"$folder/models/bead.toml"

failed=0
# expect STATUS OUTPUT [argument...]: ends with STATUS and prints exactly these lines, empty ones apart
expect() {
  local status=0 output
  output=$("$folder/run" "${@:3}" 2>&1) || status=$?
  output=$(grep . <<<"$output" || true)
  if [ "$status" != "$1" ] || [ "$output" != "$2" ]; then
    failed=$((failed + 1))
    printf 'run %s: status %s, not %s, and said\n%s\n' "${*:3}" "$status" "$1" "$output"
  fi
}

expect 0 $'check m.toml\naccelerate m.toml' m.toml
expect 0 $'check m.toml --set a=1 --time=2\naccelerate m.toml --set a=1 --parts --time=2' m.toml --set a=1 --parts --time=2
expect 0 'accelerate m.toml --json --set a=1' m.toml --json --set a=1
CHECK=1 expect 1 'check m.toml' m.toml
ACCELERATE=3 expect 3 $'check m.toml\naccelerate m.toml' m.toml
BUILD=1 expect 1 '' m.toml
SETUP=1 expect 1 '' m.toml

status=0 && "$folder/run" >"$folder/said" || status=$?
if [ "$status" != 2 ] || ! grep -q '^  models/bead.toml  *A bead on a wire$' "$folder/said"; then
  failed=$((failed + 1))
  printf 'run without a model: status %s, and said\n%s\n' "$status" "$(cat "$folder/said")"
fi

[ "$failed" -eq 0 ]
