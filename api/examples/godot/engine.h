/* SPDX-License-Identifier: MIT */
/**
 * As much of Godot's interface for extensions as the class WeftModel needs: what is a String to Godot is text here, and every
 * method takes one and returns one.
 */
#pragma once

#include <gdextension_interface.h>
#include <stdbool.h>

/** Keeps the functions of the interface. False: this Godot is older than 4.4. */
bool engine_open(GDExtensionInterfaceGetProcAddress find, GDExtensionClassLibraryPtr library);

typedef struct engine_method {
    const char *name;
    const char *argument;
    /** Its result, which is freed with free(), or null for an empty text. */
    char *(*run)(void *object, const char *text);
} engine_method;

/** A class that scripts can make objects of; descends from RefCounted. All of it lives as long as the extension. */
typedef struct engine_class {
    const char *name;
    void *(*create)(void); /**< null: there is no memory */
    void (*destroy)(void *object);
    const engine_method *methods;
    unsigned count;
} engine_class;

void engine_register(const engine_class *class);
void engine_unregister(const engine_class *class);

/** Into Godot's list of errors. */
void engine_print_error(const char *message);
