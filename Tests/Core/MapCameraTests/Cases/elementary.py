#!/usr/bin/env python3
"""The numbers of the elementary functions, and cases that hold the functions to 60 digits.

    elementary.py constants            prints Sources/Core/MapCamera/Elementary+Constants.swift
    elementary.py make COUNT SEED      prints so many new cases of each function, another lot for each seed
    elementary.py check FILE           recomputes every case of a file; fails where one is not exact

A case is a line of hexadecimal doubles: a function, its arguments, and what is exact as a double and the double nearest
to what that lacks. Polynomials are interpolated at Chebyshev's points, which comes near the least error that a
polynomial can have, and their coefficients are rounded to doubles. It needs python3-mpmath.
"""
import random
import sys

from mpmath import asinh, atan, atan2, atanh, chebyfit, cos, degrees, log, mp, mpf
from mpmath import pi, radians, sin, sinh, sqrt, tan, tanh

from cases import main

mp.dps = 60


def short(value, bits):
    """A number cut to so many bits."""
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.floor(mantissa * 2 ** bits) if value > 0 else mp.ceil(mantissa * 2 ** bits), exponent - bits)


def coarse(value, places):
    """The nearest multiple of 2^-places."""
    return mp.nint(value * mpf(2) ** places) / mpf(2) ** places


# MARK: Constants

def literal(value):
    text = float(value).hex()
    sign, text = ("-", text[1:]) if text[0] == "-" else ("", text)
    mantissa, exponent = text[2:].split("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{sign}0x{mantissa}p{int(exponent)}"


def polynomial(name, comment, function, end, count, begin=0):
    """The polynomial in u that is nearest to a function between two u, the constant first."""
    def kept(u):
        return function(mpf(10) ** -25 if abs(u) < mpf(10) ** -25 else u)

    found = chebyfit(kept, [begin, end], count)[::-1]
    steps = [f"        sum = sum * u + {literal(c)}" for c in found[-2::-1]]
    return ["", f"    /// {comment}", "    @inline(__always)", f"    static func {name}(_ u: Double) -> Double {{",
            f"        var sum = {literal(found[-1])}", *steps, "        return sum", "    }"]


def pair(name, comment, value, bits=26):
    upper = short(value, bits)
    return [f"    /// {comment}", f"    static let {name} = (upper: {literal(upper)}, lower: {literal(value - upper)})"]


def table(name, comment, kind, rows):
    return [f"    /// {comment}", f"    static let {name}: [{kind}] = ["] + [
        f"        ({', '.join(literal(value) for value in row)})," for row in rows] + ["    ]"]


def power(u):
    return (mpf(2) ** u - 1) / u


NODE, FIRST, LAST = 2, 6, 43


def constants():
    mp.dps = 200  # Tails are small differences.

    def root(function):
        return lambda u: function(sqrt(u))

    to_degrees, to_radians = 180 / pi, pi / 180
    log2e = 1 / log(2)
    rows = []
    for index in range(FIRST, LAST + 1):
        angle = radians(mpf(NODE * index))
        north = asinh(tan(angle))
        upper = coarse(north, 44)
        rows.append((upper, north - upper, cos(angle), sin(angle)))
    logs = []
    for index in range(22, 47):
        inverse = coarse(mpf(32) / index, 9)
        upper = coarse(-log(inverse, 2), 34)
        logs.append((inverse, upper, -log(inverse, 2) - upper))
    arcs = []
    for index in range(6, 33):
        angle = degrees(atan(mpf(index) / 32))
        upper = coarse(angle, 40)
        arcs.append((upper, angle - upper))
    powers = []
    for index in range(32):
        value = mpf(2) ** (mpf(index) / 32)
        powers.append((mpf(float(value)), value - mpf(float(value))))
    reach = mpf("0.25")
    lines = [
        "// The numbers of the elementary functions, as Tests/Core/MapCameraTests/Cases/elementary.py prints them. One that",
        "// is needed more exactly than a double is the sum of two, the upper with so few bits that its products are",
        "// exact.",
        "",
        "extension Elementary {",
        *pair("radiansPerDegree", "π / 180.", to_radians),
        *pair("degreesPerRadian", "180 / π.", to_degrees),
        *pair("log2OfE", "log2 e.", log2e),
        *pair("logOf2", "ln 2.", log(2), 11),
        *polynomial("sineTail", "(sin x - x) / x³ of x², up to 45°.", root(lambda x: (sin(x) - x) / x ** 3),
                    (pi / 4) ** 2 * mpf("1.0001"), 7),
        *polynomial("cosineTail", "(cos x - 1 + x²/2) / x⁴ of x², up to 45°.",
                    root(lambda x: (cos(x) - 1 + x * x / 2) / x ** 4), (pi / 4) ** 2 * mpf("1.0001"), 7),
        *polynomial("powerTail", "(2^x - 1) / x, up to 1/64 on both sides.", power, mpf("1.01") / 64, 6,
                    -mpf("1.01") / 64),
        *polynomial("logTail", "(log2(1 + x) - x log2 e) / x², up to 1/40 on both sides.",
                    lambda x: (log(1 + x) - x) * log2e / x ** 2, mpf(1) / 40, 9, -mpf(1) / 40),
        *polynomial("arcTail", "(atan x - x) / x³ in degrees of x², up to 1/5.",
                    root(lambda x: degrees(atan(x) - x) / x ** 3), (mpf(13) / 64) ** 2, 9),
        *polynomial("nodeArcTail", "(atan x - x) / x³ in degrees of x², up to 1/23.",
                    root(lambda x: degrees(atan(x) - x) / x ** 3), (mpf(1) / 23) ** 2, 4),
        *polynomial("latitudeTail", "(gd x - x) / x³ in degrees of x², up to 0.22.",
                    root(lambda x: degrees(atan(sinh(x)) - x) / x ** 3), mpf("0.22") ** 2, 8),
        *polynomial("northingTail", "(gd⁻¹ x - x) / x³ of x², x in degrees up to 12.",
                    root(lambda x: (asinh(tan(radians(x))) - radians(x)) / x ** 3), mpf(12) ** 2, 8),
        *polynomial("halfTanhTail", "(tanh(x/2) - x/2) / x³ of x², up to 1/4.",
                    root(lambda x: (tanh(x / 2) - x / 2) / x ** 3), reach ** 2, 6),
        *polynomial("halfTan", "tan(x/2) / x of x², x in degrees up to 5.", root(lambda x: tan(radians(x) / 2) / x),
                    mpf(5) ** 2, 6),
        *polynomial("areaTail", "(atanh x - x) / x³, doubled, of x², up to 1/8.",
                    root(lambda x: 2 * (atanh(x) - x) / x ** 3), mpf(1) / 64, 8),
        *polynomial("nodeGuess", "gd x / 2°, to 0.05, up to 3.25.", lambda x: degrees(atan(sinh(x))) / NODE, mpf("3.25"), 6,
                    mpf("0.2")),
        "",
        *table("powers", "2^(i/32) for each i.", "(upper: Double, lower: Double)", powers),
        "",
        *table("logs", "1 / F in ten bits or fewer, and -log2 of that, for F = 22/32, 23/32 and so on.",
               "(inverse: Double, upper: Double, lower: Double)", logs),
        "",
        *table("arcs", "The angle whose tangent is i/32, in degrees, for i from 6.", "(upper: Double, lower: Double)",
               arcs),
        "",
        *table("parallels", "Parallels 2° apart from 12° on: how far north each is, its cosine and sine.",
               "(upper: Double, lower: Double, cosine: Double, sine: Double)", rows),
        "}",
    ]
    print("\n".join(lines))
    return 0


# MARK: Cases

def log_uniform(generator, low, high):
    return generator.choice((-1, 1)) * 2 ** generator.uniform(low, high)


def northing(latitude):
    return log(tan(pi / 4 + latitude * pi / 360)) if abs(latitude) > 1 else asinh(tan(radians(latitude)))


def latitude(north):
    return degrees(atan(sinh(north)))


FUNCTIONS = {
    "sine": (lambda x: sin(radians(x)), lambda g: (g.choice((g.uniform(-720, 720), log_uniform(g, -40, 40))),)),
    "cosine": (lambda x: cos(radians(x)), lambda g: (g.choice((g.uniform(-720, 720), log_uniform(g, -40, 40))),)),
    "exp2": (lambda x: mpf(2) ** x, lambda g: (g.choice((g.uniform(-40, 40), log_uniform(g, -60, 9.9))),)),
    "log2": (lambda x: log(x) / log(2),
             lambda g: (g.choice((1 + log_uniform(g, -50, -1), 2 ** g.uniform(-1000, 1000))),)),
    "hypot": (lambda x, y: sqrt(x * x + y * y), lambda g: (log_uniform(g, -30, 30), log_uniform(g, -30, 30))),
    "atan2": (lambda y, x: degrees(atan2(y, x)),
              lambda g: g.choice(((log_uniform(g, -30, 30), log_uniform(g, -30, 30)),
                                  (g.uniform(-800, 800), g.uniform(-800, 800))))),
    "latitude": (latitude, lambda g: (g.choice((g.uniform(-3.2, 3.2), log_uniform(g, -40, 6))),)),
    "northing": (northing,
                 lambda g: (g.choice((g.uniform(-85, 85), log_uniform(g, -40, 6.49), 90 - 2 ** g.uniform(-46, 3))),)),
}


def exact(name, arguments):
    """What is exact, as a double and the double nearest to what that lacks."""
    value = FUNCTIONS[name][0](*(mpf(argument) for argument in arguments))
    upper = float(value)
    return upper, float(value - mpf(upper))


def make(count, seed):
    generator = random.Random(seed)
    for name, (_, arguments) in FUNCTIONS.items():
        for _ in range(count):
            chosen = arguments(generator)
            print(name, *(value.hex() for value in (*chosen, *exact(name, chosen))))
    return 0


def check(path):
    wrong = cases = 0
    with open(path) as file:
        for line in file:
            name, *values = line.split()
            *arguments, upper, lower = (float.fromhex(value) for value in values)
            cases += 1
            if (upper, lower) != exact(name, arguments):
                wrong += 1
                print(f"{line.strip()}: not exact", file=sys.stderr)
    print(f"{cases - wrong} of {cases} cases are exact")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(constants() if sys.argv[1:] == ["constants"] else main(__doc__, check, make))
