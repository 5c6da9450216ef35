#!/usr/bin/env bash
# tools/setup against stand-ins for the package manager: what it installs, when it does nothing, when it gives up.
set -euo pipefail

setup=$(cd "$(dirname "$0")/.." && pwd)/tools/setup
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
export FOLDER=$folder
unset MECHANICIAN_SKIP_SETUP

# Stand-ins: `installed` holds lines "package status version"; apt-get install adds its arguments there.
stand_in() { cat >"$folder/bin/$1" && chmod +x "$folder/bin/$1"; }
stand_in dpkg-query <<'SH'
#!/bin/bash
for package in "${@:4}"; do grep "^$package " "$FOLDER/installed"; done
exit 1   # as the real one does when it knows some package not at all
SH
stand_in apt-get <<'SH'
#!/bin/bash
echo "$*" >>"$FOLDER/calls"
[[ " $* " == *" update "* ]] && exit 0
[ -e "$FOLDER/broken" ] && echo 'E: no such thing' && exit 100
options=1
for word in "$@"; do
  [ "$word" = --no-install-recommends ] && options= && continue
  [ -n "$options" ] || echo "$word installed 99:1" >>"$FOLDER/installed"
done
SH
stand_in id <<'SH'
#!/bin/bash
cat "$FOLDER/uid"
SH
stand_in sudo <<'SH'
#!/bin/bash
[ -e "$FOLDER/sudo_works" ] || exit 1
[ "$1" = -n ] && exit 0
echo sudo >>"$FOLDER/calls"
exec "$@"
SH
export PATH=$folder/bin:$PATH

reset() { rm -f "$folder"/{broken,sudo_works} && : >"$folder/calls" && : >"$folder/installed" && echo 0 >"$folder/uid"; }
failed=0
expect() {
  local what=$1 && shift
  "$@" || { failed=$((failed + 1)) && printf 'not so: %s\n%s\n' "$what" "$(cat "$folder/calls" "$folder/said")"; }
}
run() { status=0 && "$setup" "$@" >"$folder/said" 2>&1 </dev/null || status=$?; }
calls() { grep -c . "$folder/calls"; }

reset && run build
expect 'missing packages are installed' [ "$status" = 0 ]
expect 'the lists are brought up to date first' grep -q update <(head -n 1 "$folder/calls")
expect 'the compiler is among them' grep -q 'install.* g++ ' "$folder/calls"
expect 'packages of another group are not' bash -c '! grep -q clang "$FOLDER/calls"'
expect 'no more than these two calls are made' [ "$(calls)" = 2 ]

: >"$folder/calls" && run build
expect 'nothing is called when nothing is missing' [ "$status $(cat "$folder/calls" "$folder/said")" = '0 ' ]

run
expect 'without a group everything for ./test is installed' grep -q 'clang-14.*clang-format-14' "$folder/calls"

reset && run build && : >"$folder/calls" && sed -i 's/^ninja-build installed/ninja-build config-files/' "$folder/installed" && run build
expect 'a removed package is not taken for an installed one' grep -qE 'install --no-install-recommends ninja-build$' "$folder/calls"

reset && run build && : >"$folder/calls" && sed -i 's/^cmake installed .*/cmake installed 3.18.4-2/' "$folder/installed" && run build
expect 'an old version is replaced' grep -qE 'install --no-install-recommends cmake$' "$folder/calls"

reset && echo 1000 >"$folder/uid" && run build
expect 'without root and sudo it fails' [ "$status" = 1 ]
expect 'and calls nothing' [ "$(cat "$folder/calls")" = '' ]
expect 'and says what to install' grep -q 'apt-get install --no-install-recommends .*g++' "$folder/said"

reset && echo 1000 >"$folder/uid" && touch "$folder/sudo_works" && run build
expect 'sudo is used where root is not' [ "$status $(grep -c '^sudo$' "$folder/calls")" = '0 2' ]

reset && touch "$folder/broken" && run build
expect 'an installation that fails is a failure' [ "$status" = 1 ]
expect 'and its output is shown' grep -q 'no such thing' "$folder/said"

reset && MECHANICIAN_SKIP_SETUP=1 run build
expect 'it can be told to leave the machine alone' [ "$status $(cat "$folder/calls")" = '0 ' ]

run nonsense
expect 'an unknown group is a wrong call' [ "$status" = 2 ]

[ "$failed" -eq 0 ]
