#!/usr/bin/env python3
"""Reads results written by `gimbal expect --junit`, as a CI server does. Debian: python3-junitparser.

Usage: results.py FILE.xml. Prints each failure, and exits with status 1 if there is one.
"""

import sys

from junitparser import Failure, JUnitXml

failed = 0
for suite in JUnitXml.fromfile(sys.argv[1]):
    for case in suite:
        for result in case.result:
            if isinstance(result, Failure):
                failed += 1
                print(f"{case.classname}: {case.name}: {result.message}")
print(f"{failed} failed")
sys.exit(1 if failed else 0)
