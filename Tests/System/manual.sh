#!/usr/bin/env bash
# The man pages and the completions: they name every subcommand and option in the programs' help, every shell accepts
# them, and bash completes a line with them. Prints failures, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${SCRATCH:-.build}
share=$build/share

failed=0
checks=0
fail() {
    failed=$((failed + 1))
    printf 'manual: FAILED: %s\n' "$*"
}

# has FILE PATTERN WHAT: expects a file to have a line that matches.
has() {
    checks=$((checks + 1))
    grep -Eq -- "$2" "$1" || fail "$1 has no $3"
}

# The words at the beginning of a help's lines: its options, and the subcommands.
options() { grep -oE '^  (-h, )?--[a-z/-]+' <<<"$1" | grep -oE -- '--[a-z-]+'; }
subcommands() { sed -n '/SUBCOMMANDS:$/,$s/^  \([a-z-]*\) .*/\1/p' <<<"$1"; }

# names_all HELP PROGRAM PAGE: expects a program's page and completions to have all options of a help.
names_all() {
    local option
    for option in $(options "$1"); do
        has "$3" "^\.It Fl (.* , )?(Fl )?${option#-}( |$)" "$option"
        has "$share/bash/$2" "(^|[ '(])$option([ ')]|$)" "$option"
        has "$share/zsh/_$2" "(^|[ ',)*])$option([=' }[]|$)" "$option"
        has "$share/fish/$2.fish" "-l '?${option#--}'?( |$)" "$option"
    done
}

names_all "$("$build/release/gimbald" --help)" gimbald "$share/man8/gimbald.8"
for section in LIMITS SIGNALS SERVICE ENVIRONMENT FILES 'STATE FILE' 'EXIT STATUS' EXAMPLES; do
    has "$share/man8/gimbald.8" "^\.Sh $section$" "section $section"
done
has "$share/man8/gimbald.8" '^\.It Sy cameras\.ndjson\.damaged$' 'file of a damaged state'
help=$("$build/release/gimbal" --help)
names_all "$help" gimbal "$share/man1/gimbal.1"
for section in SIGNALS ENVIRONMENT FILES 'EXIT STATUS' EXAMPLES; do
    has "$share/man1/gimbal.1" "^\.Sh $section$" "section $section"
done
[ -n "$(subcommands "$help")" ] || fail 'the help has no subcommands'
for subcommand in $(subcommands "$help"); do
    page=$share/man1/gimbal-$subcommand.1
    names_all "$("$build/release/gimbal" help "$subcommand")" gimbal "$page"
    has "$share/man1/gimbal.1" "^\.It Cm $subcommand$" "$subcommand"
    has "$share/man1/gimbal.1" "^\.Xr gimbal-$subcommand 1" "gimbal-$subcommand(1)"
    has "$page" "^\.Sh EXAMPLES$" 'examples'
    has "$page" "^gimbal ${subcommand//-/.*}" 'example'
done

for shell in bash zsh fish; do
    command -v $shell >/dev/null || continue
    for file in "$share/$shell"/*; do
        checks=$((checks + 1))
        $shell -n "$file" || fail "$shell does not understand $file"
    done
done
if command -v mandoc >/dev/null; then
    checks=$((checks + 1))
    complaints=$(mandoc -Tlint -Wwarning "$share"/man?/*) || fail "mandoc: $complaints"
fi

# completes LINE WORD: expects bash to offer the word at the end of the line.
completes() {
    local offered
    checks=$((checks + 1))
    offered=$(
        # shellcheck source=/dev/null
        source "$share/bash/${1%% *}"
        PATH=$build/release:$PATH
        read -ra COMP_WORDS <<<"$1"
        [[ $1 != *' ' ]] || COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9
        "_${1%% *}" "${1%% *}" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}" 2>/dev/null || true
        printf '%s\n' "${COMPREPLY[@]}"
    )
    grep -qx -- "$2" <<<"$offered" || fail "bash does not complete \"$1\" with $2, but with: $offered"
}

completes 'gimbal wa' watch
completes 'gimbal watch --ev' --events
completes 'gimbal animate --easing ease-i' ease-in-out
completes 'gimbal fit -33.9,151.2 -30,155 --dr' --dry-run
completes 'gimbald --log-level d' debug
completes 'gimbald --limit cam' cameras=

[ $failed = 0 ] || { echo "manual: $failed checks failed" && exit 1; }
echo "manual: $checks checks passed"
