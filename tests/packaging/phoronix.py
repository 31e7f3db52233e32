# SPDX-License-Identifier: MIT
"""phoronix.py PROFILE COMMAND VERSION WORK: the profile for the Phoronix Test Suite, by what the suite does with it.

Its files have the form that the suite documents, its script installs the command that is given, that of an archive and none where
there is none, and each template of its parser finds a time in what the installed test writes.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from xml.etree import ElementTree


def fail(text):
    sys.exit(f"phoronix.py: {text}")


def root_of(path):
    root = ElementTree.parse(path).getroot()
    if root.tag != "PhoronixTestSuite":
        fail(f"{path}: expected a PhoronixTestSuite, found {root.tag}")
    return root


def text_of(element, path):
    found = element.findtext(path)
    if not found:
        fail(f"no {path}")
    return found


def install(profile, home, **variables):
    """Runs install.sh as the suite does; gives what it left as its exit status."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)} | variables
    subprocess.run(["sh", profile / "install.sh"], cwd=home, env=environment, capture_output=True, check=False)
    return (home / "install-exit-status").read_text().strip()


def run(home, arguments):
    """Runs the installed test; gives its log."""
    log = home / "log"
    environment = {**os.environ, "HOME": str(home), "LOG_FILE": str(log)}
    subprocess.run(["sh", "-c", f"./weft {arguments}"], cwd=home, env=environment, check=True)
    status = (home / "test-exit-status").read_text().strip()
    if status != "0":
        fail(f"weft {arguments}: exit status {status}:\n{log.read_text()}")
    return log.read_text()


def parts_of(line):
    return re.sub(r"[()\t]", " ", line).replace("=", " = ").split()


def result_of(parser, log):
    """What the suite takes for the result: in the last line with the hint the part that stands where the template has it."""
    template = text_of(parser, "OutputTemplate")
    hint = text_of(parser, "LineHint")
    if hint not in template:
        fail(f"'{hint}' is not in '{template}'")
    lines = [line for line in log.splitlines() if hint in line]
    if not lines:
        fail(f"no line has '{hint}':\n{log}")
    place = parts_of(template).index("#_RESULT_#")
    value = float(parts_of(lines[-1])[place])
    if not value > 0:
        fail(f"'{lines[-1]}': expected a time")
    return value


def check_definition(profile, version):
    definition = root_of(profile / "test-definition.xml")
    for field in ["Title", "Description", "ResultScale", "Proportion"]:
        text_of(definition, f"TestInformation/{field}")
    for path, expected in [("TestInformation/AppVersion", version), ("TestInformation/Proportion", "LIB"),
                           ("TestProfile/Version", profile.name.removeprefix("weft-"))]:
        if text_of(definition, path) != expected:
            fail(f"{path}: expected {expected}, found {text_of(definition, path)}")
    return definition


def check_results(definition, profile, home):
    parsers = root_of(profile / "results-definition.xml").findall("ResultsParser")
    suites = definition.find("TestSettings/Option[Identifier='suite']")
    default = text_of(definition, "TestSettings/Default/Arguments")
    found = 0
    for entry in suites.findall("Menu/Entry"):
        chosen = text_of(suites, "ArgumentPrefix") + text_of(entry, "Value")
        log = run(home, f"{default} {chosen} --device processor --math reproducible --seconds 0.01")
        own = [parser for parser in parsers if text_of(parser, "MatchToTestArguments") in chosen]
        if not own:
            fail(f"no parser is of {chosen}")
        for parser in own:
            result_of(parser, log)
        found += len(own)
    if found != len(parsers):
        fail(f"{found} of {len(parsers)} parsers are of a suite")


def check_rows(home):
    """A stranger's texts change no column."""
    (home / "odd.csv").write_bytes(b'device,case,suite,status,median_ms\r\n"a ""b"", c","n=1,d=2",ops,ok,1.5\r\n'
                                   b'x,"y, ""ok""",ops,error,\r\n,z,ops,ok,2\r\n')
    made = subprocess.run(["awk", "-f", home / "rows.awk", home / "odd.csv"], capture_output=True, text=True, check=True)
    if made.stdout != "ops n=1,d=2 1.5 ms\nops z 2 ms\n":
        fail(f"rows.awk made\n{made.stdout}")


def check_ways(profile, command, work):
    """Beside an archive, and where there is nothing."""
    copy = work / "profile"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(profile, copy)
    if install(copy, work / "nothing", PATH="/usr/bin:/bin") == "0" and not shutil.which("weft", path="/usr/bin:/bin"):
        fail("without a command install.sh says that it is installed")
    folder = work / "archive/weft-0.0.0-linux-x86_64/bin"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "weft").write_text(f'#!/bin/sh\nexec "{command}" "$@"\n')
    (folder / "weft").chmod(0o755)
    with tarfile.open(copy / "weft-0.0.0-linux-x86_64.tar.gz", "w:gz") as archive:
        archive.add(folder.parent, folder.parent.name)
    home = work / "of an archive"
    if install(copy, home) != "0" or "weft-0.0.0-linux-x86_64/bin/weft" not in (home / "weft").read_text():
        fail("the archive beside install.sh is not used")


def main():
    profile, command, version, work = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    definition = check_definition(profile, version)
    home = work / "home"
    if install(profile, home, WEFT=command) != "0":
        fail("install.sh failed")
    check_rows(home)
    check_results(definition, profile, home)
    check_ways(profile, command, work)


main()
