# SPDX-License-Identifier: MIT
#
# Kernels of common models, made by the command for this machine's kinds of processors, in the folder `weft-kernels` beside the library or
# the Python module: the first run of these models then compiles nothing (packaging/kernels.py). Sets weft_kernels_folder, empty without them.

option(WEFT_BUILD_KERNELS "Compile the kernels of common models, for what is installed and for the Python package" OFF)

set(weft_kernels_folder "")
if(WEFT_BUILD_KERNELS)
    if(NOT TARGET weft-cli OR NOT WEFT_HAVE_LLVM OR CMAKE_CROSSCOMPILING)
        message(FATAL_ERROR "WEFT_BUILD_KERNELS needs the command (WEFT_BUILD_CLI) and LLVM, on the machine that builds.")
    endif()
    find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)
    # Not where this build's own library would take them from.
    set(weft_kernels_folder "${PROJECT_BINARY_DIR}/kernels/weft-kernels")
    add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/kernels/weft-kernels.stamp"
        COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/packaging/kernels.py" "${weft_kernels_folder}" "$<TARGET_FILE:weft-cli>"
        COMMAND "${CMAKE_COMMAND}" -E touch "${PROJECT_BINARY_DIR}/kernels/weft-kernels.stamp"
        DEPENDS weft-cli "${PROJECT_SOURCE_DIR}/packaging/kernels.py"
        COMMENT "Kernels of common models" VERBATIM)
    if(TARGET weft-llvm)
        add_dependencies(weft-cli weft-llvm)
    endif()
    add_custom_target(weft_kernels ALL DEPENDS "${PROJECT_BINARY_DIR}/kernels/weft-kernels.stamp")
endif()
