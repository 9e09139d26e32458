"""What the scripts of cases share: their commands, and the comparison of answers to the last digits of a double."""
import json
import sys

from mpmath import mpf


def wrapped(degrees):
    """Within (-180, 180]."""
    return -((180 - degrees) % 360 - 180)


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else float(value)


def far_apart(found, known):
    """Whether two answers differ by more than the last digits of a double."""
    if isinstance(known, dict):
        return set(found) != set(known) or any(far_apart(found[key], known[key]) for key in known)
    if isinstance(known, list):
        return len(found) != len(known) or any(map(far_apart, found, known))
    return abs(wrapped(mpf(found) - mpf(known))) > 1e-12 * max(1, abs(known))


def check(path, exact):
    with open(path) as file:
        cases = [json.loads(line) for line in file]
    wrong = [case["id"] for case in cases if far_apart(rounded(exact(case)), case["exact"])]
    for name in wrong:
        print(f"{name}: not exact", file=sys.stderr)
    print(f"{len(cases) - len(wrong)} of {len(cases)} cases are exact")
    return 1 if wrong else 0


def main(usage, check, make):
    """Runs the command that the arguments say, and returns the exit status."""
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0] == "check":
        return check(arguments[1])
    if len(arguments) == 3 and arguments[0] == "make":
        return make(int(arguments[1]), int(arguments[2]))
    print(usage, file=sys.stderr)
    return 64
