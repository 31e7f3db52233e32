/* SPDX-License-Identifier: MIT */
/*
 * Linked into programs of the sanitizer builds. The Vulkan loader unloads drivers and layers when an
 * instance goes, before the leak check runs; leaks of theirs would then come from an unknown module,
 * which no suppression can name, and the thread sanitizer refuses to go on once a suppressed library
 * is gone. So nothing is unloaded.
 */
int dlclose(void *handle);

__attribute__((visibility("default"))) int dlclose(void *handle) {
    (void)handle;
    return 0;
}
