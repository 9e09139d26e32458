#!/usr/bin/env python3
"""What the unit tests reach, line by line: they and the programs that they start are built with counters, and llvm-cov counts.

usage: coverage.py SCRATCH

It prints a table of the targets, and writes the lines that no test reaches into SCRATCH/unreached.txt. It fails if a test
fails, and if the hub, the protocol or the camera is below 95 % in lines or regions without a reason in REASONS.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LEAST = 95  # percent, of these:
HELD = ["Hub", "GimbalProtocol", "MapCamera"]
# Exceptions and their reasons: (target, "lines" or "regions").
REASONS = {}

# As in Tests/run.sh: the server of gimbal-web shares the threads that the waiting of other tests would block.
PROGRAMS, SERVER = r"DaemonTests\.|GimbalClientTests\.", r"WebServerTests\."
# The tests of programs wait while the others compute.
RUNS = [[["--skip", f"{PROGRAMS}|{SERVER}"], ["--filter", PROGRAMS]], [["--filter", SERVER]]]


def build(scratch):
    built = subprocess.run(
        ["swift", "build", "--build-tests", "--enable-code-coverage", "--scratch-path", scratch],
        env={**os.environ, "GIMBAL_FAST_TESTS": "1", "GIMBAL_MQTT": "1", "GIMBAL_WEB": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode != 0:
        sys.exit(built.stdout)


def run_tests(scratch, profiles):
    """Runs all unit tests; each process writes a profile of its own as it ends."""
    shutil.rmtree(profiles, ignore_errors=True)
    profiles.mkdir()
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(profiles / "%p.profraw")}
    passed = True
    for runs in RUNS:
        running = []
        for options in runs:
            log = tempfile.TemporaryFile("w+")
            command = [scratch / "debug/gimbalPackageTests.xctest", "--testing-library", "swift-testing", *options]
            running.append((subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log), log))
        for process, log in running:
            passed = process.wait() == 0 and passed
            log.seek(0)
            print("".join(line for line in log if line.startswith(("✘", "✔ Test run"))), end="", flush=True)
    return passed


def tool(name):
    """A tool of the toolchain's: another LLVM may not read what it writes."""
    return pathlib.Path(shutil.which("swift")).resolve().parent / name


def export(scratch, merged, *options):
    """What llvm-cov says of the sources, in all programs together."""
    folder = scratch / "debug"
    programs = [*folder.glob("*.xctest"), *(folder / name for name in ("gimbald", "gimbal", "gimbal-mqtt", "gimbal-web"))]
    objects = [word for program in programs[1:] for word in ("-object", program)]
    return subprocess.run(
        [tool("llvm-cov"), "export", programs[0], *objects, "-instr-profile", merged, *options, ROOT / "Sources"],
        check=True, stdout=subprocess.PIPE, text=True).stdout


def unreached(text):
    """The lines that no test reaches, of what llvm-cov writes for lcov: "file:first-last"."""
    for record in text.split("end_of_record\n"):
        lines = record.splitlines()
        file = next((line[3:] for line in lines if line.startswith("SF:")), "")
        ranges = []
        for line in lines:
            if line.startswith("DA:") and line.endswith(",0"):
                number = int(line[3:].split(",")[0])
                if ranges and ranges[-1][1] == number - 1:
                    ranges[-1][1] = number
                else:
                    ranges.append([number, number])
        for first, last in ranges:
            yield f"{os.path.relpath(file, ROOT)}:{first}" + (f"-{last}" if last > first else "")


def percent(counts):
    return 100 * counts[1] / counts[0] if counts[0] else 100


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    scratch = pathlib.Path(sys.argv[1]).resolve()
    build(scratch)
    profiles, merged = scratch / "profiles", scratch / "merged.profdata"
    passed = run_tests(scratch, profiles)
    # A killed process may have left half a profile.
    subprocess.run(
        [tool("llvm-profdata"), "merge", "-sparse", "-failure-mode=all", "-o", merged, profiles],
        check=True, stderr=subprocess.DEVNULL)
    shutil.rmtree(profiles)
    # The profile of programs whose environment a test has emptied.
    (ROOT / "default.profraw").unlink(missing_ok=True)

    targets = collections.defaultdict(lambda: {"lines": [0, 0], "regions": [0, 0]})
    for file in json.loads(export(scratch, merged, "-summary-only"))["data"][0]["files"]:
        target = pathlib.Path(file["filename"]).relative_to(ROOT / "Sources").parts[1]
        for kind in ("lines", "regions"):
            for name in (target, "in total"):
                targets[name][kind][0] += file["summary"][kind]["count"]
                targets[name][kind][1] += file["summary"][kind]["covered"]
    print("| Target | Lines | Reached | Regions reached |\n|---|---|---|---|")
    for name in [*sorted(targets.keys() - {"in total"}), "in total"]:
        lines, regions = targets[name]["lines"], targets[name]["regions"]
        print(f"| `{name}` | {lines[0]:,} | {percent(lines):.1f} % | {percent(regions):.1f} % |")
    places = list(unreached(export(scratch, merged, "-format=lcov")))
    (scratch / "unreached.txt").write_text("".join(place + "\n" for place in places))
    print(f"the lines that no test reaches: {scratch / 'unreached.txt'}")

    for name in HELD:
        for kind, counts in targets[name].items():
            if percent(counts) < LEAST:
                reason = REASONS.get((name, kind))
                print(f"{name}: {kind} below {LEAST} %: {reason or 'FAILED, without a reason'}")
                passed = passed and reason is not None
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
