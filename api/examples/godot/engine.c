/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stdlib.h>

typedef void *name; // a StringName, and a String: one pointer each

static struct {
    GDExtensionClassLibraryPtr library;
    GDExtensionInterfacePrintError print_error;
    GDExtensionInterfaceStringNameNewWithLatin1Chars new_name;
    GDExtensionInterfaceStringNewWithUtf8Chars new_string;
    GDExtensionInterfaceStringToUtf8Chars read_string;
    GDExtensionInterfaceClassdbConstructObject2 construct;
    GDExtensionInterfaceObjectSetInstance set_instance;
    GDExtensionInterfaceClassdbRegisterExtensionClass4 register_class;
    GDExtensionInterfaceClassdbRegisterExtensionClassMethod register_method;
    GDExtensionInterfaceClassdbUnregisterExtensionClass unregister_class;
    GDExtensionVariantFromTypeConstructorFunc string_to_variant;
    GDExtensionTypeFromVariantConstructorFunc variant_to_string;
    GDExtensionPtrDestructor free_string, free_name;
} engine;

bool engine_open(GDExtensionInterfaceGetProcAddress find, GDExtensionClassLibraryPtr library) {
    GDExtensionInterfaceGetVariantFromTypeConstructor from_type;
    GDExtensionInterfaceGetVariantToTypeConstructor to_type;
    GDExtensionInterfaceVariantGetPtrDestructor destructor;
    const struct {
        const char *name;
        GDExtensionInterfaceFunctionPtr *function;
    } functions[] = {
        {"print_error", (GDExtensionInterfaceFunctionPtr *)&engine.print_error},
        {"string_name_new_with_latin1_chars", (GDExtensionInterfaceFunctionPtr *)&engine.new_name},
        {"string_new_with_utf8_chars", (GDExtensionInterfaceFunctionPtr *)&engine.new_string},
        {"string_to_utf8_chars", (GDExtensionInterfaceFunctionPtr *)&engine.read_string},
        {"classdb_construct_object2", (GDExtensionInterfaceFunctionPtr *)&engine.construct},
        {"object_set_instance", (GDExtensionInterfaceFunctionPtr *)&engine.set_instance},
        {"classdb_register_extension_class4",
         (GDExtensionInterfaceFunctionPtr *)&engine.register_class},
        {"classdb_register_extension_class_method",
         (GDExtensionInterfaceFunctionPtr *)&engine.register_method},
        {"classdb_unregister_extension_class",
         (GDExtensionInterfaceFunctionPtr *)&engine.unregister_class},
        {"get_variant_from_type_constructor", (GDExtensionInterfaceFunctionPtr *)&from_type},
        {"get_variant_to_type_constructor", (GDExtensionInterfaceFunctionPtr *)&to_type},
        {"variant_get_ptr_destructor", (GDExtensionInterfaceFunctionPtr *)&destructor},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        *functions[i].function = find(functions[i].name);
        if (!*functions[i].function) {
            return false;
        }
    }
    engine.library = library;
    engine.string_to_variant = from_type(GDEXTENSION_VARIANT_TYPE_STRING);
    engine.variant_to_string = to_type(GDEXTENSION_VARIANT_TYPE_STRING);
    engine.free_string = destructor(GDEXTENSION_VARIANT_TYPE_STRING);
    engine.free_name = destructor(GDEXTENSION_VARIANT_TYPE_STRING_NAME);
    return true;
}

void engine_print_error(const char *message) {
    engine.print_error(message, "weft", __FILE__, __LINE__, false);
}

/** Runs a method and makes a String of its result at `result`, which holds none. */
static void run(const engine_method *method, void *object, GDExtensionConstStringPtr argument,
                GDExtensionUninitializedStringPtr result) {
    const GDExtensionInt size = engine.read_string(argument, NULL, 0);
    char *text = malloc((size_t)size + 1), *answer = NULL;
    if (text) {
        engine.read_string(argument, text, size);
        text[size] = 0;
        answer = method->run(object, text);
    } else {
        engine_print_error("no memory for a text");
    }
    engine.new_string(result, answer ? answer : "");
    free(answer);
    free(text);
}

static void call(void *method, GDExtensionClassInstancePtr object,
                 const GDExtensionConstVariantPtr *arguments, GDExtensionInt count,
                 GDExtensionVariantPtr result, GDExtensionCallError *error) {
    if (count != 1) {
        *error =
            (GDExtensionCallError){.error = count < 1 ? GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS
                                                      : GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS,
                                   .expected = 1};
        return;
    }
    name argument = NULL, answer = NULL;
    engine.variant_to_string(&argument, (GDExtensionVariantPtr)(uintptr_t)arguments[0]);
    run(method, object, &argument, &answer);
    engine.string_to_variant(result, &answer);
    engine.free_string(&answer);
    engine.free_string(&argument);
    error->error = GDEXTENSION_CALL_OK;
}

static void call_typed(void *method, GDExtensionClassInstancePtr object,
                       const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr result) {
    engine.free_string(result);
    run(method, object, arguments[0], result);
}

static GDExtensionObjectPtr create(void *user, GDExtensionBool notify) {
    (void)notify;
    const engine_class *class = user;
    void *object = class->create();
    if (!object) {
        return NULL;
    }
    name parent, self;
    engine.new_name(&parent, "RefCounted", false);
    engine.new_name(&self, class->name, false);
    const GDExtensionObjectPtr made = engine.construct(&parent);
    engine.set_instance(made, &self, object);
    engine.free_name(&self);
    engine.free_name(&parent);
    return made;
}

static void destroy(void *user, GDExtensionClassInstancePtr object) {
    ((const engine_class *)user)->destroy(object);
}

static void register_method(name class, const engine_method *method) {
    name self, argument, none, hint;
    engine.new_name(&self, method->name, false);
    engine.new_name(&argument, method->argument, false);
    engine.new_name(&none, "", false);
    engine.new_string(&hint, "");
    enum { PROPERTY_USAGE_DEFAULT = 6 };
    GDExtensionPropertyInfo takes = {GDEXTENSION_VARIANT_TYPE_STRING, &argument, &none, 0, &hint,
                                     PROPERTY_USAGE_DEFAULT};
    GDExtensionPropertyInfo gives = {GDEXTENSION_VARIANT_TYPE_STRING, &none, &none, 0, &hint,
                                     PROPERTY_USAGE_DEFAULT};
    GDExtensionClassMethodArgumentMetadata plain = GDEXTENSION_METHOD_ARGUMENT_METADATA_NONE;
    const GDExtensionClassMethodInfo info = {.name = &self,
                                             .method_userdata = (void *)(uintptr_t)method,
                                             .call_func = call,
                                             .ptrcall_func = call_typed,
                                             .method_flags = GDEXTENSION_METHOD_FLAGS_DEFAULT,
                                             .has_return_value = true,
                                             .return_value_info = &gives,
                                             .argument_count = 1,
                                             .arguments_info = &takes,
                                             .arguments_metadata = &plain};
    engine.register_method(engine.library, &class, &info);
    engine.free_string(&hint);
    engine.free_name(&none);
    engine.free_name(&argument);
    engine.free_name(&self);
}

void engine_register(const engine_class *class) {
    name self, parent;
    engine.new_name(&self, class->name, false);
    engine.new_name(&parent, "RefCounted", false);
    const GDExtensionClassCreationInfo4 info = {.is_exposed = true,
                                                .create_instance_func = create,
                                                .free_instance_func = destroy,
                                                .class_userdata = (void *)(uintptr_t) class};
    engine.register_class(engine.library, &self, &parent, &info);
    for (unsigned i = 0; i < class->count; i++) {
        register_method(self, &class->methods[i]);
    }
    engine.free_name(&parent);
    engine.free_name(&self);
}

void engine_unregister(const engine_class *class) {
    name self;
    engine.new_name(&self, class->name, false);
    engine.unregister_class(engine.library, &self);
    engine.free_name(&self);
}
