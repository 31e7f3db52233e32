// SPDX-License-Identifier: MIT
//
// Fast mode's half of reduce.glsl, which includes this and defines WEFT_GROUP_SIZE, the size of the
// workgroup along x: first within each subgroup, then over the subgroups' results in shared memory.
// Nothing is assumed of subgroups but what Vulkan says: any size from 1 to 128, full or not, larger
// than the workgroup or not, invocations in any order. A device without subgroup arithmetic gets the
// reproducible half instead (runtime/shader/capabilities.h).

#ifndef WEFT_INCLUDE_REDUCE_FAST_GLSL
#define WEFT_INCLUDE_REDUCE_FAST_GLSL

#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

shared uint weft_reduce_words[WEFT_GROUP_SIZE]; // one for each subgroup

// Which subgroups' results an invocation looks at: all of them, or where they are many every step-th,
// counted over the invocations of its own subgroup that there are.
struct weft_share
{
    uint first;
    uint step;
};

weft_share weft_share_of_subgroups()
{
    if (gl_NumSubgroups <= 8) {
        return weft_share(0, 1);
    }
    return weft_share(subgroupExclusiveAdd(1u), subgroupAdd(1u));
}

float weft_group_sum(float x)
{
    float part = subgroupAdd(x);
    if (subgroupElect()) {
        weft_reduce_words[gl_SubgroupID] = floatBitsToUint(part);
    }
    barrier();
    weft_share share = weft_share_of_subgroups();
    float sum = 0.0;
    for (uint i = share.first; i < gl_NumSubgroups; i += share.step) {
        sum = sum + uintBitsToFloat(weft_reduce_words[i]);
    }
    sum = share.step > 1 ? subgroupAdd(sum) : sum;
    barrier();
    return sum;
}

// The largest element, as weft_larger has it.
float weft_group_max(float x)
{
    uint largest = subgroupMax(weft_order_key(x));
    if (subgroupElect()) {
        weft_reduce_words[gl_SubgroupID] = largest;
    }
    barrier();
    weft_share share = weft_share_of_subgroups();
    for (uint i = share.first; i < gl_NumSubgroups; i += share.step) {
        largest = max(largest, weft_reduce_words[i]);
    }
    largest = share.step > 1 ? subgroupMax(largest) : largest;
    barrier();
    return weft_from_order_key(largest);
}

#endif
