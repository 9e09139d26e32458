#!/usr/bin/env bash
# Runs all tests: the unit tests, which must be built, and the programs on a real system, which are built here and
# tested by the scripts in Tests/System. For what passes, only the result is shown. The last lines count what ran and
# what was skipped, and why, followed by the failures, because their output may be far above.
#
#   run.sh SCRATCH      where everything is built
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SCRATCH=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
touch "$folder"/{skipped,failed}

# run NAME COMMAND…: runs a command whose last line is its result; lines with "skipped" say what was, and why.
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

# without_warnings COMMAND…: runs a command, and fails if its output has a compiler warning.
without_warnings() { "$@" 2>&1 | awk '{ print } /warning: / { warns = 1 } END { exit warns }'; }

# run_scripts NAME…: runs scripts of Tests/System, one after the other.
run_scripts() {
    local script
    for script; do run "$script" "Tests/System/$script.sh"; done
}

# The programs for most scripts are built while the unit tests run, finally by a single linker. (The tests lock the build
# folder, and build nothing; the packages have their own folders.)
run 'release build' without_warnings env GIMBAL_BENCH=1 GIMBAL_MQTT=1 SWIFT_FLAGS=--ignore-lock \
    make --no-print-directory build kernels mqtt &
build=$!
after_build() { tail --pid=$build -f /dev/null; }

# Three rows of tests run side by side. Booted systemds have time limits: only one runs at a time. A browser drops what
# it is loading when the machine's network changes, as the fleet's does: the two are in one row. The tests of gimbal-web
# have a separate process, because its server shares the threads that the waiting of other tests would block; they
# follow the build, which locks its records when a run begins.
programs='DaemonTests\.|GimbalClientTests\.'
server='WebServerTests\.'
units=(Tests/run-units.sh --scratch-path "$SCRATCH" --ignore-lock)
machines=(systemd debian)
early=(packages exchange metrics style portability)
browsers=(page playwright)
late_browsers=(adapters examples fleet)
mapfile -t others < <(basename -s .sh Tests/System/*.sh |
    grep -vxF "$(printf '%s\n' "${machines[@]}" "${early[@]}" "${browsers[@]}" "${late_browsers[@]}")")
{ after_build; run_scripts "${machines[@]}"; } &
# The build and the machines take longest: the other rows yield to them.
renice -n 5 "$BASHPID" >/dev/null
{
    run 'tests of programs' env NAME='tests of programs' "${units[@]}" --filter "$programs"
    run_scripts "${browsers[@]}"
    after_build
    run_scripts "${late_browsers[@]}"
} &
{
    run 'unit tests' "${units[@]}" --skip "$programs|$server"
    run_scripts "${early[@]}"
    after_build
    run 'tests of gimbal-web' env NAME='tests of gimbal-web' "${units[@]}" --filter "$server"
    # They document the libraries as the tests built them.
    GIMBAL_FAST_TESTS=1 run_scripts "${others[@]}"
} &
wait

cat "$folder/results"
sort "$folder/skipped" | sed 's/^/    /' | cat <(echo "skipped: $(wc -l <"$folder/skipped")") -
cat "$folder/failed"
expected=$((4 + $(ls Tests/System/*.sh | wc -l)))
[ "$(grep -vc ': FAILED (' "$folder/results")" = "$expected" ]
