#!/bin/sh
# SPDX-License-Identifier: MIT
#
# aarch64.sh VERSION FOLDER: the wheel for AArch64 in FOLDER, a Debian of that architecture with Python and its pip, which was
# unpacked and never ran. Its /root has the source archive, the wheels, and a static QEMU, which runs Python; that starts no other program.
set -eu
tree=/root/weft-$1
folder=$2
tar xf "$folder$tree.tar.gz" -C "$folder/root"
# shellcheck source=packaging/trials/use.sh
. "$folder$tree/packaging/trials/use.sh"

python() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 PYTHONPATH=/root/site "WEFT_LLVM=$llvm" \
        chroot "$folder" /root/qemu-aarch64-static /usr/bin/python3 "$@"
}

llvm=1
pip=$(cd "$folder" && echo usr/share/python-wheels/pip-*.whl)/pip
wheel=$(cd "$folder" && echo root/weft-*.whl)
python "/$pip" install -q --root-user-action ignore --no-index --find-links /root/wheels --target /root/site "/$wheel"
expect aarch64 python -c 'import platform; print(platform.machine())'

llvm=0 # by the interpreter: a kernel takes QEMU half a minute to compile
use_cases python -m weft
llvm=1 # for NEON
python -m weft verify --device processor --filter softmax/unit/rank=1,rows=1,columns=7 --bits "$tree/tests/data/bits"
use_model python -m weft
expect vi python -c "import weft; print(weft.load('$tree/api/examples/models/langid')(open('$tree/api/examples/models/langid/samples/vi.txt').read()))"
