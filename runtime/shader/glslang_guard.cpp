// SPDX-License-Identifier: MIT
#include "shader/glslang_guard.h"

extern "C" bool weft_glslang_guard(void (*call)(void *user), void *user) {
    try {
        call(user);
        return true;
    } catch (...) {
        return false;
    }
}
