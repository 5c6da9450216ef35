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
printf '#!/bin/bash\necho "$@"\ncase $1 in check) exit "${CHECK:-0}" ;; run) exit "${RUN:-0}" ;; esac\nexit "${ACCELERATE:-0}"\n' \
  >"$folder/build/release/mechanician"
chmod +x "$folder"/tools/* "$folder/build/release/mechanician"
printf 'title = "A bead on a wire"   # and more\ncoordinates = ["x"]\n' >"$folder/models/bead.toml"

cd "$folder"
failed=0
# expect STATUS OUTPUT [argument...]: ends with STATUS and prints exactly these lines, empty ones apart
expect() {
  local status=0 output
  output=$("$folder/run" "${@:3}" 2>&1) || status=$?
  output=$(grep . <<<"$output" || true)
  output=${output//"$folder/"/}
  if [ "$status" != "$1" ] || [ "$output" != "$2" ]; then
    failed=$((failed + 1))
    printf 'run %s: status %s, not %s, and said\n%s\n' "${*:3}" "$status" "$1" "$output"
  fi
}

# The instant: no word of an end.
printf 'coordinates = ["x"]\n[run]\nevery = 1\n[parameters]\nto = 3\n' >m.toml
expect 0 $'check m.toml\naccelerate m.toml' m.toml
expect 0 $'check m.toml --set a=1 --time=2\naccelerate m.toml --set a=1 --parts --time=2' m.toml --set a=1 --parts --time=2
expect 0 'accelerate m.toml --json --set a=1' m.toml --json --set a=1
CHECK=1 expect 1 'check m.toml' m.toml
ACCELERATE=3 expect 3 $'check m.toml\naccelerate m.toml' m.toml
BUILD=1 expect 1 '' m.toml
SETUP=1 expect 1 '' m.toml

# The motion: the end stands in the file, or is given.
expect 0 $'check m.toml\nrun m.toml -o build/results/m.csv --to 3\nrows: build/results/m.csv' m.toml --to 3
for text in '[run]\nevery = 1\nto = 10.0' ' [ run ]\n  to=1\n[outputs]' 'run.to = 3' 'run = { every = 1, to = 3 }' 'run = {to = 3}'; do
  printf "$text\n" >e.toml
  expect 0 $'check e.toml\nrun e.toml -o build/results/e.csv\nrows: build/results/e.csv' e.toml
done
expect 0 $'check e.toml --set a=1\nrun e.toml -o build/results/e.csv --set a=1 --verify\nrows: build/results/e.csv' e.toml --set a=1 --verify
expect 0 $'check e.toml\nrun e.toml -o other.h5' e.toml -o other.h5
expect 0 'run e.toml --json' e.toml --json
expect 0 $'check e.toml\naccelerate e.toml --explain' e.toml --explain
expect 0 $'run e.toml -o build/results/e.csv --project-start\nrows: build/results/e.csv' e.toml --project-start
CHECK=1 expect 1 'check e.toml' e.toml
for status in 4 5 130; do
  RUN=$status expect $status $'check e.toml\nrun e.toml -o build/results/e.csv\nrows: build/results/e.csv' e.toml
done
RUN=1 expect 1 $'check e.toml\nrun e.toml -o build/results/e.csv' e.toml

# The page is asked for where the program has it, and not where another one is.
mkdir -p build/release/viewer && echo page >build/release/viewer/report.html
expect 0 $'check e.toml\nrun e.toml -o build/results/e.csv --report build/results/e.html\nrows: build/results/e.csv\nreport: build/results/e.html' e.toml
expect 0 $'check e.toml\nrun e.toml -o build/results/e.csv --report mine.html\nrows: build/results/e.csv' e.toml --report mine.html

status=0 && "$folder/run" >"$folder/said" || status=$?
if [ "$status" != 2 ] || ! grep -q '^  models/bead.toml  *A bead on a wire$' "$folder/said" || ! grep -q '^The exit status' "$folder/said"; then
  failed=$((failed + 1))
  printf 'run without a model: status %s, and said\n%s\n' "$status" "$(cat "$folder/said")"
fi

[ "$failed" -eq 0 ]
