/* SPDX-License-Identifier: MIT */
/*
 * The functions of the terminal's library that LLVM asks for colours, in the compiler that comes with Weft. It prints nothing to
 * a terminal: there is no description of one, which is an answer that LLVM knows.
 */
#include <stddef.h>

#define NO_DATABASE (-1) /* setupterm's, in *error */
#define FAILED      (-1) /* ERR of curses.h */

struct term;

int setupterm(const char *name, int file, int *error);
int tigetnum(const char *capability);
struct term *set_curterm(struct term *term);
int del_curterm(struct term *term);

int setupterm(const char *name, int file, int *error) {
    (void)name;
    (void)file;
    if (error) {
        *error = NO_DATABASE;
    }
    return FAILED;
}

int tigetnum(const char *capability) {
    (void)capability;
    return FAILED;
}

struct term *set_curterm(struct term *term) {
    (void)term;
    return NULL;
}

int del_curterm(struct term *term) {
    (void)term;
    return FAILED;
}
