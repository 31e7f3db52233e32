/* SPDX-License-Identifier: MIT */
/*
 * Since glibc 2.34 programs do not bring the function that calls their constructors: it does so by itself. An older one calls
 * the function that it is given, which is here. See link_libraries.py.
 */
#define HIDDEN __attribute__((visibility("hidden")))

typedef int start_main(int (*entry)(int, char **, char **), int count, char **arguments,
                       void (*initialize)(int, char **, char **), void (*finish)(void),
                       void (*close_libraries)(void), void *stack_end);
start_main old_start_main;
#ifdef __x86_64__
__asm__(".symver old_start_main,__libc_start_main@GLIBC_2.2.5");
#else
__asm__(".symver old_start_main,__libc_start_main@GLIBC_2.17");
#endif

typedef void constructor(int, char **, char **);
extern HIDDEN constructor *const __preinit_array_start[], *const __preinit_array_end[];
extern HIDDEN constructor *const __init_array_start[], *const __init_array_end[];
extern HIDDEN void _init(void);

static void initialize(int count, char **arguments, char **environment) {
    for (constructor *const *next = __preinit_array_start; next < __preinit_array_end; next++) {
        (*next)(count, arguments, environment);
    }
    _init();
    for (constructor *const *next = __init_array_start; next < __init_array_end; next++) {
        (*next)(count, arguments, environment);
    }
}

HIDDEN start_main __libc_start_main;
HIDDEN int __libc_start_main(int (*entry)(int, char **, char **), int count, char **arguments,
                             void (*unused)(int, char **, char **), void (*finish)(void),
                             void (*close_libraries)(void), void *stack_end) {
    (void)unused;
    return old_start_main(entry, count, arguments, initialize, finish, close_libraries, stack_end);
}
