#!/usr/bin/env python3
"""Makes a release that others can check: source archive, Debian packages, an SPDX list of what is inside, checksums.

usage: release.py FOLDER                    of the tagged commit, into FOLDER, which is made anew
       release.py --check                   says what keeps this commit from being a release
       release.py --source FOLDER           the source archive alone, of any commit
       release.py --spdx SCRATCH PACKAGE…   prints the list of packages, files or names, whose programs are in SCRATCH

What is built is the archive, from the beginning and in a folder of its own: nothing else of this tree gets in. The
archive has Package.resolved, which tells the versions of other packages, so a build of it is the same with these alone.
The folder is a temporary one with a path of always the same length, since the page's server knows how long its own was.
"""

import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

EVERYTHING = {**os.environ, "GIMBAL_MQTT": "1", "GIMBAL_WEB": "1"}
PROGRAMS = {"gimbal": ("gimbal", "gimbald"), "gimbal-mqtt": ("gimbal-mqtt",), "gimbal-web": ("gimbal-web",)}
# What tells that a program has a part of the toolchain's: a name among its symbols.
TOOLCHAIN = {"Swift": r"\bswift_retain\b", "Foundation": r"\$s20FoundationEssentials"}


def refuse(why):
    sys.exit(f"release: {why}")


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def found(pattern, path):
    match = re.search(pattern, pathlib.Path(path).read_text(), re.MULTILINE)
    return match[1] if match else refuse(f"{path} has no {pattern}")


def changelog(field):
    return output("dpkg-parsechangelog", "--show-field", field)


# MARK: What is released


def check(version):
    """A release is a commit that everyone can find, and says everywhere which one it is."""
    if changes := output("git", "status", "--porcelain"):
        refuse(f"this tree is not clean: {changes.splitlines()[0].strip()}")
    if f"v{version}" not in output("git", "tag", "--points-at", "HEAD").split():
        refuse(f"this commit has no tag v{version}")
    if changelog("Version") != version:
        refuse(f"debian/changelog begins with {changelog('Version')}, and the sources say {version}")
    # Times that are earlier than this one stay in the packages as they are.
    if int(changelog("Timestamp")) > time.time():
        refuse("debian/changelog has a date that is still to come")
    date = output("date", "--utc", "--date", f"@{changelog('Timestamp')}", "+%F")
    if f"## [{version}] - {date}\n" not in pathlib.Path("CHANGELOG.md").read_text():
        refuse(f"CHANGELOG.md has no section [{version}] - {date}, the date of debian/changelog")


def make_source(folder, tree):
    """Makes the archive of what is committed, in a folder, and what it has, as a tree. Its times are the commit's."""
    name = tree.name
    archive = ["git", "-c", "tar.umask=0022", "archive", f"--prefix={name}/"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", tree.parent], check=True, input=subprocess.check_output([*archive, "HEAD"]))
    log = subprocess.run(["swift", "package", "--package-path", tree, "resolve"], env=EVERYTHING, capture_output=True)
    if log.returncode != 0:
        refuse(log.stderr.decode())
    bytes = subprocess.check_output([*archive, f"--add-file={tree}/Package.resolved", "HEAD"])
    with open(folder / f"{name}.tar.xz", "wb") as file:
        subprocess.run(["xz", "-9", "--threads=1"], check=True, input=bytes, stdout=file)


# MARK: What is inside


def paragraphs():
    """What debian/copyright says of files: their patterns, and its other fields."""
    for text in re.sub(r"\n[ \t]+", " ", pathlib.Path("debian/copyright").read_text()).split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): *(.*)$", text, re.MULTILINE))
        if "Files" in fields:
            yield fields.pop("Files").split(), fields


def modules(program, scratch):
    """The modules that were linked into a program."""
    objects = pathlib.Path(scratch, "release", f"{program}.product", "Objects.LinkFileList")
    return set(re.findall(r"/release/([\w-]+)\.build/", objects.read_text()))


class List:
    def __init__(self, version, date, scratch):
        self.version, self.scratch, self.packages, self.relations = version, pathlib.Path(scratch), {}, set()
        self.created = output("date", "--utc", "--date", f"@{date}", "+%FT%TZ")
        self.rules = list(paragraphs())
        pins = json.loads(pathlib.Path("Package.resolved").read_text())["pins"]
        self.pins = {pin["identity"]: pin for pin in pins}

    def add(self, name, version, location="NOASSERTION", file=None, licence=None, copyright=None, **more):
        key = "SPDXRef-" + re.sub(r"[^\w.-]|_", "-", name)
        licence = self.spdx(licence) if licence else "NOASSERTION"
        self.packages[key] = {
            "SPDXID": key, "name": name, "versionInfo": version, "downloadLocation": location,
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": copyright or "NOASSERTION", **more}
        if file:
            self.packages[key]["packageFileName"] = file.name
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            self.packages[key]["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
        return key

    def relate(self, one, relation, other):
        self.relations.add((one, relation, other))

    @staticmethod
    def spdx(licence):
        names = {"Expat": "MIT", "with": "WITH", "and": "AND",
                 "public-domain": "LicenseRef-public-domain"}
        return " ".join(names.get(word, word) for word in licence.split())

    def rule(self, path):
        """What debian/copyright says of a path: the last that fits, as there."""
        return [fields for patterns, fields in self.rules if any(fnmatch.fnmatch(path, one) for one in patterns)][-1]

    def part(self, name, version, path):
        fields = self.rule(path)
        return self.add(name, version, licence=fields["License"], copyright=fields["Copyright"])

    def place(self, module):
        """Where a module is among the packages: as Swift was told, or in a folder of its name; `None` for ours."""
        told = self.scratch / "release" / f"{module}.build" / "sources"
        folders = [*self.scratch.glob(f"checkouts/*/*/{module}"), *pathlib.Path("Sources").glob(f"*/{module}")]
        if not told.exists() and not folders:
            refuse(f"no package has the module {module}")
        path = told.read_text().splitlines()[0] if told.exists() else str(folders[0])
        return path.rpartition("/checkouts/")[2] if "/checkouts/" in path else None

    def link(self, key, module):
        """Adds the package that a module is of, and what that has from elsewhere."""
        inside = self.place(module)
        if inside is None:
            if module in ("WebFiles", "PictureFiles"):
                path = "Sources/Page/WebFiles/page/world.json"
                self.relate(key, "CONTAINS", self.part("Natural Earth", "NOASSERTION", path))
            return
        name, path = inside.partition("/")[0], f".build/checkouts/{inside}/x"
        fields, pin = self.rule(f".build/checkouts/{name}/x"), self.pins[name.lower()]
        text, version = (self.scratch / "checkouts" / name / "LICENSE.txt").read_text(), pin["state"]["version"]
        if "Apache License" not in text or ("Runtime Library Exception" in text) != ("Swift" in fields["License"]):
            refuse(f"debian/copyright has another licence of {name} than its LICENSE.txt")
        location = pin["location"].removesuffix(".git")
        other = self.add(
            pin["identity"], version, f"git+{location}.git@{pin['state']['revision']}", licence=fields["License"],
            copyright=fields["Copyright"], externalRefs=[{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:swift/{location.removeprefix('https://')}@{version}"}])
        self.relate(key, "STATIC_LINK", other)
        if self.rule(path) is not fields:
            self.relate(other, "CONTAINS", self.part(self.rule(path)["Comment"], "NOASSERTION", path))

    def link_toolchain(self, key, program):
        symbols = output("nm", "--defined-only", self.scratch / "release" / program)
        swift = re.search(r"Swift version ([\d.]+)", output("swift", "--version", stderr=subprocess.DEVNULL))[1]
        for name, symbol in TOOLCHAIN.items():
            if re.search(symbol, symbols):
                self.relate(key, "STATIC_LINK", self.part(name, swift, f"swift_static/{name}"))

    def text(self):
        licences = [{
            "licenseId": "LicenseRef-public-domain", "name": "Public domain",
            "extractedText": "All versions of Natural Earth raster and vector map data are in the public domain."}]
        relations = [{"spdxElementId": one, "relationshipType": relation, "relatedSpdxElement": other}
                     for one, relation, other in sorted(self.relations)]
        content = {"packages": [self.packages[key] for key in sorted(self.packages)], "relationships": relations}
        digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        return json.dumps({
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"gimbal-{self.version}",
            "documentNamespace": f"https://gimbal.example/spdx/{self.version}/{digest}",
            "creationInfo": {"created": self.created, "creators": ["Organization: The Gimbal authors"]},
            "hasExtractedLicensingInfos": licences, **content}, indent=1, ensure_ascii=False) + "\n"


def spdx(version, scratch, packages):
    """The list of what packages are made of, whose programs are in a folder."""
    result = List(version, changelog("Timestamp"), scratch)
    own = result.rule("Sources")
    rights = {"licence": own["License"], "copyright": own["Copyright"]}
    files = {path.name.partition("_")[0]: path for path in map(pathlib.Path, packages)}
    archive = files.pop(f"gimbal-{version}.tar.xz", None)
    source = result.add("source of gimbal", version, file=archive, primaryPackagePurpose="SOURCE", **rights)
    result.relate("SPDXRef-DOCUMENT", "DESCRIBES", source)
    for name, path in files.items():
        file = path if path.exists() else None
        key = result.add(name, version, file=file, primaryPackagePurpose="INSTALL", **rights)
        result.relate("SPDXRef-DOCUMENT", "DESCRIBES", key)
        result.relate(key, "GENERATED_FROM", source)
        for program in PROGRAMS[name]:
            for module in sorted(modules(program, scratch)):
                result.link(key, module)
            result.link_toolchain(key, program)
        for library in re.findall(r"lib[\w.+-]+", output("dpkg-deb", "--field", file, "Depends") if file else ""):
            installed = output("dpkg-query", "--show", "--showformat=${Version}", library)
            result.relate(key, "DYNAMIC_LINK", result.add(library, installed))
    return result.text()


# MARK: A release


def make(folder, tree):
    make_source(folder, tree)
    environment = {**EVERYTHING, "SCRATCH": ".build"}
    subprocess.run(["make", "-C", tree, "deb", "WITH=mqtt web"], check=True, env=environment, stdout=sys.stderr)
    for package in tree.glob("*.deb"):
        shutil.move(package, folder)
    files = sorted(path.resolve() for path in folder.iterdir())
    listing = folder / f"{tree.name}.spdx.json"
    listing.write_text(output("debian/release.py", "--spdx", ".build", *files, cwd=tree) + "\n")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted([*files, listing])]
    (folder / "SHA256SUMS").write_text("".join(sums))
    print(f"the release is in {folder}")


def main():
    os.umask(0o022)
    version = found(r'gimbalVersion = "(.*)"', "Sources/Core/GimbalProtocol/Version.swift")
    match sys.argv[1:]:
        case ["--check"]:
            check(version)
        case ["--source", folder]:
            with tempfile.TemporaryDirectory() as place:
                make_source(pathlib.Path(folder), pathlib.Path(place, f"gimbal-{version}"))
        case ["--spdx", scratch, *packages]:
            sys.stdout.write(spdx(version, scratch, packages))
        case [folder] if not folder.startswith("-"):
            check(version)
            with tempfile.TemporaryDirectory(prefix="gimbal-", dir="/var/tmp") as place:
                make(pathlib.Path(folder), pathlib.Path(place, f"gimbal-{version}"))
        case _:
            refuse(f"usage:{__doc__.partition('usage:')[2]}")


if __name__ == "__main__":
    main()
