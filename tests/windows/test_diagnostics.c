/* SPDX-License-Identifier: MIT */
/* LLVM's functions call back in the convention that they are called in, as the compiler's handler of errors relies on. */
#include "support.h"

#ifdef WEFT_HAVE_LLVM

#include "core/system/library.h"

#define TRIPLE "x86_64-unknown-linux-gnu"

typedef void *object;
typedef void handler(object told, void *user);

/* By name, as the library has them: its headers are those of one version, and their names lead to the compiler's own jumps. */
#define FUNCTIONS(F)                                                                              \
    F(object, LLVMContextCreate, (void))                                                          \
    F(void, LLVMContextDispose, (object context))                                                 \
    F(void, LLVMContextSetDiagnosticHandler, (object context, handler * to, void *user))          \
    F(int, LLVMGetDiagInfoSeverity, (object told))                                                \
    F(char *, LLVMGetDiagInfoDescription, (object told))                                          \
    F(void, LLVMDisposeMessage, (char *message))                                                  \
    F(object, LLVMModuleCreateWithNameInContext, (const char *name, object context))              \
    F(void, LLVMDisposeModule, (object module))                                                   \
    F(void, LLVMSetTarget, (object module, const char *triple))                                   \
    F(object, LLVMVoidTypeInContext, (object context))                                            \
    F(object, LLVMFunctionType, (object result, object * parameters, unsigned count, int more))   \
    F(object, LLVMAddFunction, (object module, const char *name, object type))                    \
    F(object, LLVMAppendBasicBlockInContext, (object context, object function, const char *name)) \
    F(object, LLVMCreateBuilderInContext, (object context))                                       \
    F(void, LLVMPositionBuilderAtEnd, (object builder, object block))                             \
    F(object, LLVMBuildRetVoid, (object builder))                                                 \
    F(void, LLVMDisposeBuilder, (object builder))                                                 \
    F(void, LLVMInitializeX86TargetInfo, (void))                                                  \
    F(void, LLVMInitializeX86Target, (void))                                                      \
    F(void, LLVMInitializeX86TargetMC, (void))                                                    \
    F(void, LLVMInitializeX86AsmPrinter, (void))                                                  \
    F(int, LLVMGetTargetFromTriple, (const char *triple, object *target, char **message))         \
    F(object, LLVMCreateTargetMachine,                                                            \
      (object target, const char *triple, const char *cpu, const char *features, int level,       \
       int relocation, int model))                                                                \
    F(void, LLVMDisposeTargetMachine, (object machine))                                           \
    F(int, LLVMTargetMachineEmitToMemoryBuffer,                                                   \
      (object machine, object module, int form, char **message, object *buffer))                  \
    F(void, LLVMDisposeMemoryBuffer, (object buffer))

#define DECLARE(result, name, arguments) static result(*name) arguments;
FUNCTIONS(DECLARE)

static void find(void *function, void *library, const char *name) {
    void *address = weft_library_function(library, name);
    assert_non_null(address);
    memcpy(function, &address, sizeof address); /* ISO C knows no other way */
}

static void open_llvm(void) {
    char reason[256];
    void *library = weft_library_open("LLVM-C.dll", reason, sizeof reason);
    assert_non_null(library);
#define FIND(result, name, arguments) find((void *)&name, library, #name);
    FUNCTIONS(FIND)
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

/* void f(void) {} */
static object make_module(object context) {
    const object module = LLVMModuleCreateWithNameInContext("module", context);
    const object type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, 0);
    const object function = LLVMAddFunction(module, "f", type);
    const object builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, "begin"));
    (void)LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    LLVMSetTarget(module, TRIPLE);
    return module;
}

static void make_code(object module) {
    object target = NULL, buffer = NULL;
    char *message = NULL;
    assert_int_equal(LLVMGetTargetFromTriple(TRIPLE, &target, &message), 0);
    const object machine = LLVMCreateTargetMachine(target, TRIPLE, "x86-64", "", 2, 2, 3);
    assert_non_null(machine);
    assert_int_equal(LLVMTargetMachineEmitToMemoryBuffer(machine, module, 1, &message, &buffer), 0);
    LLVMDisposeMemoryBuffer(buffer);
    LLVMDisposeTargetMachine(machine);
}

struct heard {
    unsigned times;
    int severity;
    char text[128];
};

static void hear(object told, void *user) {
    struct heard *heard = user;
    char *text = LLVMGetDiagInfoDescription(told);
    heard->times++;
    heard->severity = LLVMGetDiagInfoSeverity(told);
    (void)snprintf(heard->text, sizeof heard->text, "%s", text);
    LLVMDisposeMessage(text);
}

/* The number of a function's instructions is a remark, which every LLVM has. */
WEFT_TEST(who_listens_is_told_what_is_said) {
    struct heard first = {0}, heard = {0};
    open_llvm();
    const object context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(context, hear, &first);
    LLVMContextSetDiagnosticHandler(context, hear, &heard); /* in place of the other */
    const object module = make_module(context);
    make_code(module);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    assert_int_equal(first.times, 0);
    assert_int_equal(heard.times, 1);
    assert_int_equal(heard.severity, 2);
    assert_non_null(strstr(heard.text, "instructions in function"));
}

#endif
