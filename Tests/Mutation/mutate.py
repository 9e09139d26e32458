#!/usr/bin/env python3
"""Breaks a pure target in one place at a time, and counts how often its own unit tests see that.

usage: mutate.py SCRATCH TARGET…        MapCamera, Gestures, Touches, JSONLines or EarthViews

Not the others: the protocol's tests need support that knows the hub, and Tours needs the protocol and libexpat.

COUNT (60) mutants of each target that compile are drawn from SEED (1), tried JOBS (2) at a time. A mutant is killed if a
test fails, crashes or does not end. One that survives is a test that is missing, code that nothing needs, or a change
that makes no difference: those stand with their reasons in equivalent.txt, by their text. Any other ends this with 1.
"""

import concurrent.futures
import json
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEPENDENCIES = {
    "MapCamera": [],
    "Gestures": ["MapCamera"],
    "Touches": ["Gestures", "MapCamera"],
    "JSONLines": [],
    "EarthViews": ["JSONLines", "MapCamera"],
}
SUPPORT = ["JSON.swift", "Needs.swift", "Shared.swift"]  # of TestSupport: the rest knows the hub
MEMORY = 4 << 30  # bytes that a test run may have

# MARK: Places

# Code patterns and their replacements. Operators have spaces on both sides in this project's style.
SWAPS = [
    (r"(?<= )<(?= )", ["<=", ">"]), (r"(?<= )<=(?= )", ["<", ">"]),
    (r"(?<= )>(?= )", [">=", "<"]), (r"(?<= )>=(?= )", [">", "<"]),
    (r"(?<= )==(?= )", ["!="]), (r"(?<= )!=(?= )", ["=="]),
    (r"(?<= )&&(?= )", ["||"]), (r"(?<= )\|\|(?= )", ["&&"]),
    (r"(?<= )\+(?==? )", ["-"]), (r"(?<= )-(?==? )", ["+"]),
    (r"(?<= )\*(?==? )", ["/"]), (r"(?<= )/(?==? )", ["*"]),
    (r"(?<= )&\+(?==? )", ["&-"]), (r"(?<= )&-(?==? )", ["&+"]),
    (r"(?<= )<<(?==? )", [">>"]), (r"(?<= )>>(?==? )", ["<<"]),
    (r"(?<= )&(?==? )", ["|"]), (r"(?<= )\|(?==? )", ["&"]), (r"(?<= )\^(?==? )", ["&"]),
    (r"\.\.<", ["..."]), (r"\.\.\.(?=[\w(])", ["..<"]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
    (r"\bmin\b(?=\()", ["max"]), (r"\bmax\b(?=\()", ["min"]),
    (r"(?<=[ (\[])!(?=[\w(])", [""]), (r"(?<=[ (\[])-(?=[\w(.])", [""]),
]
NUMBER = r"(?<![\w$])(?<!p-)(?<![\w)]\.)\d[\d_]*(?:\.\d+)?(?:e-?\d+)?(?!\w|\.\d)"
GUARD = r"\bguard (?!.*\b(?:let|var|case)\b).* else \{ .* \}$"  # on one line, and binds nothing
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|""".*?"""|#?"(?:\\.|[^"\\\n])*"#?|@\w+\([^)]*\)', re.DOTALL)
NO_PLACES = re.compile(r"\b(?:operator|import)\b|\bfunc \W|^\s*#")


def changes_of(number):
    """A number with its last digit up and down by one, and nothing."""
    head, digits = re.fullmatch(r"(.*?)(\d+)", number).groups()
    others = {head + str(value).zfill(len(digits)) for value in (int(digits) + 1, int(digits) - 1) if value >= 0}
    return sorted(others | {"0"} - {number})


def places(text):
    """The places that can be broken: (start, end, what may stand there instead)."""
    # Everything but code becomes blanks of the same length.
    code = NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    at, found = 0, []
    for line in code.splitlines(keepends=True):
        if not NO_PLACES.search(line):
            for pattern, others in SWAPS:
                found += [(at + m.start(), at + m.end(), others) for m in re.finditer(pattern, line)]
            found += [(at + m.start(), at + m.end(), changes_of(m.group())) for m in re.finditer(NUMBER, line)]
            found += [(at + m.start(), at + m.end(), [""]) for m in re.finditer(GUARD, line.rstrip("\n"))]
        at += len(line)
    return found


class Mutant:
    def __init__(self, file, text, start, end, other):
        self.file, self.start = file, start
        self.text = text[:start] + other + text[end:]
        self.line = text.count("\n", 0, start) + 1
        begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        self.before = text[begin:stop].strip()
        self.after = (text[begin:start] + other + text[end:stop]).strip()
        self.key = (file, self.before, self.after)

    def __str__(self):
        return f"{self.file}:{self.line}\n    - {self.before}\n    + {self.after}"


def mutants(target, seed):
    """All mutants of a target, in an order of the seed: one of each place, then the others."""
    generator, first, later = random.Random(f"{seed} {target}"), [], []
    for path in sorted((ROOT / "Sources/Core" / target).rglob("*.swift")):
        text, file = path.read_text(), str(path.relative_to(ROOT))
        for start, end, others in places(text):
            made = [Mutant(file, text, start, end, other) for other in others]
            generator.shuffle(made)
            first.append(made[0])
            later += made[1:]
    generator.shuffle(first)
    generator.shuffle(later)
    return first + later


def equivalents():
    """The changes that make no difference: file, before and after, each entry ends with a blank line."""
    entries = [entry.splitlines() for entry in (HERE / "equivalent.txt").read_text().split("\n\n") if entry.strip()]
    return {(entry[0], entry[1][2:], entry[2][2:]) for entry in entries if not entry[0].startswith("#")}


# MARK: Trying

PACKAGE = """// swift-tools-version: 6.2
import PackageDescription

let optimized: [SwiftSetting] = [.unsafeFlags(["-O", "-assert-config", "Debug", "-enable-testing"])]
let package = Package(
    name: "mutants",
    targets: [
{targets}
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: optimized),
        .testTarget(
            name: "{target}Tests", dependencies: {all} + ["TestSupport"], path: "Tests/Core/{target}Tests"),
    ],
    swiftLanguageModes: [.v6])
"""


class Workshop:
    """A copy of a target, what it depends on and its tests, as a package of its own."""

    def __init__(self, folder, target):
        self.folder, self.target = folder, target
        shutil.rmtree(folder / "Sources", ignore_errors=True)
        shutil.rmtree(folder / "Tests", ignore_errors=True)
        copied = [f"Sources/Core/{name}" for name in (target, *DEPENDENCIES[target])] + [f"Tests/Core/{target}Tests"]
        for part in copied:
            shutil.copytree(ROOT / part, folder / part)
        (folder / "Tests/TestSupport").mkdir(parents=True)
        for file in SUPPORT:
            shutil.copy2(ROOT / "Tests/TestSupport" / file, folder / "Tests/TestSupport")
        lines = [
            f'        .target(name: "{name}", dependencies: {listed(DEPENDENCIES[name])}, path: "Sources/Core/{name}",'
            " swiftSettings: optimized),"
            for name in (target, *DEPENDENCIES[target])
        ]
        every = listed([target, *DEPENDENCIES[target]])
        package = PACKAGE.format(targets="\n".join(lines), target=target, all=every)
        (folder / "Package.swift").write_text(package)

    def build(self):
        """Builds all, or says why not."""
        self.building = [
            "swift", "build", "--build-tests", "--package-path", self.folder, "--scratch-path", self.folder / ".build"]
        built = subprocess.run(self.building, capture_output=True, text=True)
        if built.returncode != 0:
            sys.exit(built.stdout + built.stderr)
        # The commands for the target alone and for linking: the tests link a mutant's object files and need no build.
        manifest = (self.folder / ".build/debug.yaml").read_text()
        commands = [json.loads(line) for line in re.findall(r"^    args: (\[.*\])$", manifest, re.MULTILINE)]
        self.compiling = next(one for one in commands if "-emit-module" in one and self.target in one)
        self.linking = next(one for one in commands if "-emit-executable" in one)
        self.tests_are_stale = False

    def rebuild(self, text):
        """Whether the target compiles with this text in it.

        What is inlinable in it the tests have compiled into them, and go on having when it has been put back."""
        is_inlinable = "@inlinable" in text
        commands = [self.building] if is_inlinable or self.tests_are_stale else [self.compiling, self.linking]
        built = all(subprocess.run(one, cwd=self.folder, capture_output=True).returncode == 0 for one in commands)
        self.tests_are_stale = is_inlinable or self.tests_are_stale and not built
        return built

    def test(self, seconds):
        """Whether all tests pass; it ends with the first that fails."""
        program = next((self.folder / ".build/debug").glob("*.xctest"))
        process = subprocess.Popen(
            [program, "--testing-library", "swift-testing"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            cwd=self.folder, env={**os.environ, "SWIFT_BACKTRACE": "enable=no"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        limit = time.monotonic() + seconds
        os.set_blocking(process.stdout.fileno(), False)
        output = b""
        try:
            while process.poll() is None:
                output = output[-100:] + (process.stdout.read() or b"")
                if "✘".encode() in output or time.monotonic() > limit:
                    return False
                time.sleep(0.02)
            return process.returncode == 0
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def attempt(self, mutant, seconds):
        path = self.folder / mutant.file
        whole = path.read_text()
        path.write_text(mutant.text)
        try:
            if not self.rebuild(mutant.text):
                return "does not compile"
            return "survived" if self.test(seconds) else "killed"
        finally:
            path.write_text(whole)


def listed(names):
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def measure(folder, target, seed, count, jobs):
    """Tries mutants of a target; whether all that survived are known."""
    free, longest = queue.Queue(), 0.0
    for number in range(jobs):
        workshop = Workshop(folder / f"{target}-{number}", target)
        workshop.build()
        began = time.monotonic()
        if not workshop.test(3600):
            sys.exit(f"{target}: its tests fail as it is")
        longest = max(longest, time.monotonic() - began)
        free.put(workshop)

    def attempt(mutant):
        workshop = free.get()
        try:
            result = workshop.attempt(mutant, 10 + 5 * longest)
            if "VERBOSE" in os.environ:
                print(f"{result}: {mutant}", file=sys.stderr)
            return result
        finally:
            free.put(workshop)

    known, drawn = equivalents(), mutants(target, seed)
    results = {"killed": 0, "survived": 0, "does not compile": 0, "known": 0}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        # As many as are still needed: the seed alone decides which ones are tried.
        while drawn and (needed := count - results["killed"] - results["survived"] - results["known"]) > 0:
            batch, drawn = drawn[:needed], drawn[needed:]
            for mutant, result in zip(batch, pool.map(attempt, batch)):
                if result == "survived" and mutant.key in known:
                    result = "known"
                elif result == "survived":
                    print(f"survived: {mutant}", flush=True)
                results[result] += 1
    tried = results["killed"] + results["survived"] + results["known"]
    print(
        f"{target}: {results['killed']} of {tried} mutants killed, {results['survived']} survived, "
        f"{results['known']} change nothing, {results['does not compile']} did not compile", flush=True)
    return results["survived"] == 0


def main():
    if len(sys.argv) < 3 or not set(sys.argv[2:]) <= set(DEPENDENCIES):
        sys.exit(__doc__)
    folder, targets = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    there = {mutant.key for target in DEPENDENCIES for mutant in mutants(target, 0)}
    for key in equivalents() - there:
        sys.exit("equivalent.txt: no mutant is this: " + " ".join(key))
    seed, count, jobs = (int(os.environ.get(*pair)) for pair in (("SEED", "1"), ("COUNT", "60"), ("JOBS", "2")))
    passed = [measure(folder, target, seed, count, jobs) for target in targets]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
