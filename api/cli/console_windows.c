/* SPDX-License-Identifier: MIT */
#define WIN32_LEAN_AND_MEAN
#include "console.h"

#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

#include <shellapi.h>

#ifndef ENABLE_VIRTUAL_TERMINAL_PROCESSING
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 0x0004
#endif

static UINT code_page_before;
static DWORD error_mode_before;
static bool error_mode_set;

/* The progress bar moves the cursor. */
static void accept_escapes(void) {
    HANDLE terminal = GetStdHandle(STD_ERROR_HANDLE);
    error_mode_set =
        GetConsoleMode(terminal, &error_mode_before) &&
        SetConsoleMode(terminal, error_mode_before | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

static char *narrow(const wchar_t *wide) {
    const int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    if (text) {
        (void)WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
    }
    return text;
}

/* What main gets is in the code page of the system, which may lack letters. */
static char **read_arguments(int argc, char **argv) {
    int count = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
    if (!wide || count != argc) { /* a runtime that expands patterns has its own idea of them */
        LocalFree(wide);
        return argv;
    }
    char **arguments = calloc((size_t)argc + 1, sizeof *arguments);
    for (int i = 0; arguments && i < argc; i++) {
        arguments[i] = narrow(wide[i]);
        if (!arguments[i]) {
            arguments = NULL; /* the program ends */
        }
    }
    LocalFree(wide);
    return arguments;
}

char **weft_cli_console_begin(int argc, char **argv) {
    (void)_setmode(_fileno(stdin), _O_BINARY);
    (void)_setmode(_fileno(stdout), _O_BINARY);
    (void)_setmode(_fileno(stderr), _O_BINARY);
    code_page_before = GetConsoleOutputCP();
    (void)SetConsoleOutputCP(CP_UTF8);
    accept_escapes();
    return read_arguments(argc, argv);
}

void weft_cli_console_end(void) {
    if (code_page_before != 0) {
        (void)SetConsoleOutputCP(code_page_before);
    }
    if (error_mode_set) {
        (void)SetConsoleMode(GetStdHandle(STD_ERROR_HANDLE), error_mode_before);
    }
}

bool weft_cli_is_terminal(FILE *stream) {
    DWORD mode = 0; /* _isatty takes NUL for one, too */
    return GetConsoleMode((HANDLE)_get_osfhandle(_fileno(stream)), &mode) != 0;
}

/* Writing to a pipe fails for no other reason. */
bool weft_cli_reader_is_gone(void) {
    return GetFileType((HANDLE)_get_osfhandle(_fileno(stdout))) == FILE_TYPE_PIPE;
}
