#!/usr/bin/env bash
# All tests: the unit tests, which have been built, and the programs as they run on a system, which are built here and which
# the scripts of Tests/System try. Of what passes only the result is shown. The last lines count what ran and what was
# skipped, and say why; behind them stands what failed, for what it printed may be far above.
#
#   run.sh SCRATCH      where everything is built
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SCRATCH=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
touch "$folder"/{skipped,failed}

# run NAME COMMAND…: a command whose last line is its result; lines that say "skipped" tell what was left out, and why.
run() {
    local name=$1 result began=$SECONDS output="$folder/output of $1"
    shift
    if "$@" >"$output" 2>&1; then
        grep ': skipped' "$output" >>"$folder/skipped"
        result=$(grep -v ': skipped' "$output" | tail -n 1)
        [[ $result == "$name: "* ]] || result="$name: passed"
    else
        cat "$output"
        tail -n 5 "$output" | sed "s/^/    $name: /" >>"$folder/failed"
        result="$name: FAILED"
    fi
    echo "$result ($((SECONDS - began)) s)" >>"$folder/results"
}

# without_warnings COMMAND…: a command that fails if what it prints has a compiler's warning.
without_warnings() { "$@" 2>&1 | awk '{ print } /warning: / { warns = 1 } END { exit warns }'; }

# run_scripts NAME…: some of Tests/System, one after the other.
run_scripts() {
    local script
    for script; do run "$script" "Tests/System/$script.sh"; done
}

# The unit tests compute, those of the programs wait, and what the other scripts try is built meanwhile, in the end by one linker
# alone: scripts that need nothing of it come before. (The tests hold the lock of the folder with the builds, and build nothing;
# the packages have folders of their own.)
# The tests of gimbal-web have a process of their own, for its server shares the threads that the others' waiting would hold;
# and they come behind the build, which locks its records when a run begins.
programs='DaemonTests\.|GimbalClientTests\.'
server='WebServerTests\.'
units=(Tests/run-units.sh --scratch-path "$SCRATCH" --ignore-lock)
early=(packages exchange metrics style portability)
early_browsers=(page playwright)
{ run 'unit tests' "${units[@]}" --skip "$programs|$server"; run_scripts "${early[@]}"; } &
{ run 'tests of programs' env NAME='tests of programs' "${units[@]}" --filter "$programs"; run_scripts "${early_browsers[@]}"; } &
run 'release build' without_warnings env GIMBAL_BENCH=1 GIMBAL_MQTT=1 SWIFT_FLAGS=--ignore-lock \
    make --no-print-directory build kernels mqtt &
wait
run 'tests of gimbal-web' env NAME='tests of gimbal-web' "${units[@]}" --filter "$server"

# Booted systemds have limits of their own for what takes long: one runs at a time, and the rest, which computes, steps back for
# them. (It has the libraries documented as the tests were built.) A browser drops what it is loading when the machine's network
# changes, as that of the fleet does: the two never run at one time.
machines=(systemd debian fleet)
mapfile -t others < <(basename -s .sh Tests/System/*.sh |
    grep -vxF "$(printf '%s\n' "${early[@]}" "${early_browsers[@]}" adapters "${machines[@]}")")
{ flock 9 && run_scripts adapters 9>&-; } 9>"$folder/network" &
{ run_scripts systemd debian 9>&-; flock 9 && run_scripts fleet 9>&-; } 9>"$folder/network" &
{ renice -n 5 "$BASHPID" >/dev/null; GIMBAL_FAST_TESTS=1 run_scripts "${others[@]}"; } &
wait

cat "$folder/results"
sort "$folder/skipped" | sed 's/^/    /' | cat <(echo "skipped: $(wc -l <"$folder/skipped")") -
cat "$folder/failed"
expected=$((4 + $(ls Tests/System/*.sh | wc -l)))
[ "$(grep -vc ': FAILED (' "$folder/results")" = "$expected" ]
