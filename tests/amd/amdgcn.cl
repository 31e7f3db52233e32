/* SPDX-License-Identifier: MIT */
/* A kernel's place on the target AMDGPU; what it computes with is functions.cl. */
#include "../compilers/functions.cl"

#define OF_AXIS(axis, what)                                                                        \
    ((axis) == 0   ? __builtin_amdgcn_##what##_x()                                                 \
     : (axis) == 1 ? __builtin_amdgcn_##what##_y()                                                 \
                   : __builtin_amdgcn_##what##_z())
#define get_group_id(axis)   OF_AXIS(axis, workgroup_id)
#define get_local_id(axis)   OF_AXIS(axis, workitem_id)
#define CLK_LOCAL_MEM_FENCE  1
#define CLK_GLOBAL_MEM_FENCE 2

/* As the device's library of ROCm has it: what was written before is seen behind. */
static inline __attribute__((always_inline)) void barrier(uint fences) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
