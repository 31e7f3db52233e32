/* SPDX-License-Identifier: MIT */
/* What the extension module weft._native is compiled with, in front of what cffi writes. */
#include <weft/arithmetic.h>
#include <weft/decode.h>
#include <weft/external.h>
#include <weft/features.h>
#include <weft/flt.h>
#include <weft/generate.h>
#include <weft/inspect.h>
#include <weft/mixers.h>
#include <weft/model.h>
#include <weft/movement.h>
#include <weft/op.h>
#include <weft/receipt.h>
#include <weft/speech.h>
#include <weft/texts.h>

/** The weft command: api/cli/main.c, whose main has this name here. */
int weft_command(int argc, char **argv);

/* The thread that runs handlers of signals. It changes where a process was forked by another. */
static unsigned long weft_py_main_thread;

static void weft_py_watch_thread(unsigned long thread) {
    weft_py_main_thread = thread;
}

/* Python's, below. */
static bool weft_py_interrupted(void *user);

/** weft_host.interrupted: other threads' calls go on, and do not wait for the interpreter's lock to find that out. */
static bool weft_py_ask(void *user) {
    return PyThread_get_thread_ident() == weft_py_main_thread && weft_py_interrupted(user);
}
