/* SPDX-License-Identifier: MIT */
/* A kernel's place on the target NVPTX; what it computes with is functions.cl. */
#include "functions.cl"

#define OF_AXIS(axis, register)                                                                    \
    ((axis) == 0   ? __nvvm_read_ptx_sreg_##register##_x()                                         \
     : (axis) == 1 ? __nvvm_read_ptx_sreg_##register##_y()                                         \
                   : __nvvm_read_ptx_sreg_##register##_z())
#define get_group_id(axis)   OF_AXIS(axis, ctaid)
#define get_local_id(axis)   OF_AXIS(axis, tid)
#define CLK_LOCAL_MEM_FENCE  1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(fences)      __nvvm_barrier_sync(0)
