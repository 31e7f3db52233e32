/* SPDX-License-Identifier: MIT */
/* A library that says that it is a version of LLVM, or is one that does not say so, and that has no function of LLVM besides. */
#if WEFT_FAKE_LLVM >= 16
__attribute__((visibility("default"))) void LLVMGetVersion(unsigned *major, unsigned *minor,
                                                           unsigned *patch);

void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
    *major = WEFT_FAKE_LLVM;
    *minor = 1;
    *patch = 7;
}
#elif WEFT_FAKE_LLVM == 15
__attribute__((visibility("default"))) void *LLVMPointerTypeInContext(void *context,
                                                                      unsigned space);

void *LLVMPointerTypeInContext(void *context, unsigned space) {
    (void)space;
    return context;
}
#else
extern int weft_no_llvm;
int weft_no_llvm = WEFT_FAKE_LLVM;
#endif
