# SPDX-License-Identifier: MIT
"""The machine that this runs on."""


def processor_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "processor"
