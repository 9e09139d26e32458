#!/usr/bin/env bash
# The same bytes on every machine: no target calls an inexact function of the C library, the constants of our own
# functions equal those that their script computes, and the protocol's traces give the known streams with and without
# the processor's newer instructions. Prints failures, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PYTHONDONTWRITEBYTECODE=1
scratch=${SCRATCH:-.build}

fail() { printf 'arithmetic: FAILED: %s\n' "$*" && exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# All functions of libm except those that IEEE 754 defines to the last bit. (The names for other types end in f, l, f32,
# f64x and such.)
exact='ceil|copysign|fabs|floor|fmax|fmin|fmod|frexp|ilogb|ldexp|logb|lrint|lround|llrint|llround|modf|nearbyint|nextafter'
exact+='|remainder|rint|round|roundeven|scalbln|scalbn|sqrt|trunc'
libm=$(ldd "$scratch/release/gimbal" | sed -n 's/.*libm\.so[^ ]* => \([^ ]*\).*/\1/p')
[ -n "$libm" ] || libm=$(ldconfig -p | sed -n 's/.*libm\.so[^ ]* .*=> \(.*\)/\1/p' | head -n 1)
nm -D --defined-only "$libm" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u |
    grep -Evx "($exact)(f|l|f[0-9]+x?)?" >"$folder/inexact"
grep -qx sin "$folder/inexact" && grep -qx fma "$folder/inexact" || fail "$libm has no sin and no fma"

# called TARGET: prints those that its objects call.
called() {
    local objects=("$scratch/debug/$1.build"/*.o)
    [ -f "${objects[0]}" ] || fail "$1 has no objects"
    nm -u "${objects[@]}" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort -u | comm -12 - "$folder/inexact"
}

# These tests compare with libm, so the search must find their calls.
[ -n "$(called MapCameraTests)" ] || fail 'no call is found where there are some'
targets=0
for folder_of_target in Sources/*/*/; do
    target=$(basename "$folder_of_target")
    [ -n "$(find "$folder_of_target" -name '*.swift' -print -quit)" ] || continue
    [ -d "$scratch/debug/$target.build" ] || continue
    found=$(called "$target")
    [ -z "$found" ] || fail "$target calls" $found
    targets=$((targets + 1))
done
[ "$targets" -ge 19 ] || fail "only $targets targets are built"

if python3 -c 'import mpmath' 2>/dev/null; then
    Tests/Core/MapCameraTests/Cases/elementary.py constants | diff - Sources/Core/MapCamera/Elementary+Constants.swift ||
        fail 'elementary.py computes other numbers'
    Tests/Core/MapCameraTests/Cases/elementary.py check Tests/Core/MapCameraTests/Cases/elementary-cases.txt >"$folder/checked" ||
        fail "$(cat "$folder/checked")"
else
    echo 'arithmetic of our own: skipped: there is no python3-mpmath here'
fi

check() { Protocols/conformance/streams.py check "$@" >"$folder/checked" 2>&1 || fail "$(cat "$folder/checked")"; }

check "$scratch/release/gimbal" run
if grep -qw fma /proc/cpuinfo && [[ $(ldd --version 2>&1) =~ G(LIBC|NU\ libc) ]]; then
    export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX,-AVX512F
    check "$scratch/release/gimbal" run
else
    echo 'arithmetic without FMA: skipped: this processor has none, or this is no glibc on x86-64'
fi
echo "arithmetic: $targets targets, $(cat "$folder/checked")"
