# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # read by ./dev, which has the names that are not set here
#
# Environments of Python, with the packages that a file lists, by their hashes.

python=$root/build/python-env/bin/python
python_options=() # for CMake, once setup_python was there

# A Python >= 3.9 that can make environments and compile extension modules.
find_python() {
    python3 - <<'END' >/dev/null 2>&1 || install_packages "${python_packages[@]}"
import ensurepip, os, sys, sysconfig, venv
assert sys.version_info >= (3, 9) and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
END
}

# python_environment FOLDER FILE...: an environment with the packages that the files list, by their hashes.
python_environment() {
    local folder=$1
    shift
    find_python
    [[ -x $folder/bin/python ]] || python3 -m venv "$folder" || die "python3 could not make an environment (see above)"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes "${@/#/--requirement=}" ||
        die "pip could not install what $* lists (see above)"
}

# setup_python FILE: the package's environment, with what a file in api/python lists; with PyTorch for processors where pip finds
# it, or else as PyPI has it.
setup_python() {
    local file=api/python/$1
    if [[ $1 == requirements-all.txt ]]; then
        (python_environment build/python-env "$file" api/python/requirements-torch.txt) 2>build/python-env.log ||
            python_environment build/python-env "$file" api/python/requirements-torch-cuda.txt
    else
        python_environment build/python-env "$file"
    fi
    python_options=(-DWEFT_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$python")
}
