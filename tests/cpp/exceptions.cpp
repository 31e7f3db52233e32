/* SPDX-License-Identifier: MIT */
/* With WEFT_EXCEPTIONS a result's value can be taken, or thrown for. Compiled alone. */
#define WEFT_EXCEPTIONS
#include <weft/weft.hpp>

int parameters(const char *folder) {
    try {
        const weft::model model = weft::value(weft::model::load(folder));
        weft::graph graph = weft::value(weft::graph::create());
        weft::value(graph.output("y", weft::value(graph.input("x", WEFT_F32, weft::shape_of(1)))));
        return static_cast<int>(weft::value(model.info()).parameters);
    } catch (const weft::error &error) {
        return error.status().code() == WEFT_NOT_FOUND ? 0 : -1;
    }
}
