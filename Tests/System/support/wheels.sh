# shellcheck shell=bash
# Wheels of the Python registry, locked by their hashes, for scripts that set `name` and `folder` and have sourced
# container.sh.

# fetch_wheels FILE WHAT OPTION…: puts the wheels that the file names into $folder. If the registry provides none,
# prints that WHAT is skipped, and fails; a wheel with another hash ends the script.
fetch_wheels() {
    local file=$1 what=$2 pip=$python
    has "$pip" pip || pip=python3
    has "$pip" pip || { echo "$name: skipped: $what: there is no pip" && return 1; }
    "$pip" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: "${@:3}" \
        --retries 1 --timeout 15 --dest "$folder" --requirement "$file" >"$folder/log" 2>&1 && return
    if grep -q 'DO NOT MATCH THE HASHES' "$folder/log"; then
        cat "$folder/log"
        echo "$name: FAILED: a wheel is not the one that $(basename "$file") names" && exit 1
    fi
    echo "$name: skipped: $what: the Python registry gives no wheels: $(tail -n 1 "$folder/log")"
    return 1
}
