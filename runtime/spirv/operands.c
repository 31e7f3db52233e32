/* SPDX-License-Identifier: MIT */
#include "spirv/operands.h"

#include "spirv/module.h"

void weft_spirv_value_words(uint32_t *first, uint32_t *end, const uint32_t *instruction) {
    uint32_t opcode = weft_spirv_opcode(instruction[0]);
    *first = weft_spirv_has_typed_result(opcode) ? 3 : 1;
    *end = weft_spirv_length(instruction[0]);
    uint32_t most = *end;
    switch (opcode) {
    case WEFT_OP_FUNCTION:
    case WEFT_OP_VARIABLE:
    case WEFT_OP_LINE:
    case WEFT_OP_LOOP_MERGE:
    case WEFT_OP_SELECTION_MERGE:
        most = 1;
        break;
    case WEFT_OP_BRANCH_CONDITIONAL:
    case WEFT_OP_SWITCH:
        most = 2;
        break;
    case WEFT_OP_STORE:
    case WEFT_OP_COPY_MEMORY:
        most = 3;
        break;
    case WEFT_OP_LOAD:
    case WEFT_OP_ARRAY_LENGTH:
    case WEFT_OP_COMPOSITE_EXTRACT:
        most = 4;
        break;
    case WEFT_OP_COMPOSITE_INSERT:
    case WEFT_OP_VECTOR_SHUFFLE:
        most = 5;
        break;
    case WEFT_OP_EXT_INST:
        *first = 5;
        break;
    default:
        if (opcode >= WEFT_OP_GROUP_NON_UNIFORM_I_ADD &&
            opcode <= WEFT_OP_GROUP_NON_UNIFORM_LOGICAL_XOR) {
            *first = 5;
        }
        break;
    }
    *end = most < *end ? most : *end;
}
