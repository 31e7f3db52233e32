/* SPDX-License-Identifier: MIT */
#include "draw.h"

#include <ctype.h>
#include <stddef.h>

#include "glyphs.h"

/* Of glslang, at build time: words of SPIR-V. */
#include "quad.frag.h"
#include "quad.vert.h"

enum { PLAIN = 0, GLYPH = 1, PHOTO = 2 }; /* as in quad.frag */

struct quad { /* as in quad.vert */
    float rect[4];
    color fill;
    uint32_t what[4];
};

/* ---- what a frame consists of ---- */

static void add(draw *d, struct quad quad) {
    if (d->count < DRAW_QUADS) {
        struct quad *quads = d->quads.mapped;
        quads[d->count++] = quad;
    }
}

void draw_box(draw *d, float x, float y, float width, float height, color fill) {
    add(d, (struct quad){{x, y, width, height}, fill, {PLAIN}});
}

void draw_photo(draw *d, float x, float y, float side, uint32_t index, color light) {
    add(d, (struct quad){{x, y, side, side}, light, {PHOTO, index}});
}

static uint64_t dots_of(char character) {
    for (size_t i = 0; i < sizeof glyphs / sizeof glyphs[0]; i++) {
        if (glyphs[i].character == toupper((unsigned char)character)) {
            uint64_t bits = 0;
            for (uint32_t at = 0; glyphs[i].dots[at]; at++) {
                bits |= (uint64_t)(glyphs[i].dots[at] == '#') << at;
            }
            return bits;
        }
    }
    return 0; /* a space, and what the font does not have */
}

float draw_text(draw *d, float x, float y, float dot, color ink, const char *text) {
    for (; *text; text++, x += 6 * dot) {
        const uint64_t dots = dots_of(*text);
        if (dots != 0) {
            add(d, (struct quad){{x, y, 5 * dot, 7 * dot},
                                 ink,
                                 {GLYPH, (uint32_t)dots, (uint32_t)(dots >> 32)}});
        }
    }
    return x;
}

/* ---- Vulkan ---- */

static bool make_set(draw *d, const gpu_buffer *photos) {
    VkDevice device = d->h->g.device;
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_VERTEX_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, NULL}};
    const VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings};
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    if (!gpu_check(vkCreateDescriptorSetLayout(device, &layout, NULL, &d->set_layout),
                   "vkCreateDescriptorSetLayout") ||
        !gpu_check(vkCreateDescriptorPool(device, &pool, NULL, &d->pool),
                   "vkCreateDescriptorPool")) {
        return false;
    }
    const VkDescriptorSetAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = d->pool,
                                              .descriptorSetCount = 1,
                                              .pSetLayouts = &d->set_layout};
    if (!gpu_check(vkAllocateDescriptorSets(device, &info, &d->set), "vkAllocateDescriptorSets")) {
        return false;
    }
    const VkDescriptorBufferInfo buffers[] = {{d->quads.handle, 0, VK_WHOLE_SIZE},
                                              {photos->handle, 0, VK_WHOLE_SIZE}};
    for (uint32_t i = 0; i < 2; i++) {
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = d->set,
                                            .dstBinding = i,
                                            .descriptorCount = 1,
                                            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .pBufferInfo = &buffers[i]};
        vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    }
    return true;
}

static bool make_layout(draw *d) {
    const VkPushConstantRange push = {VK_SHADER_STAGE_VERTEX_BIT, 0, 2 * sizeof(float)};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &d->set_layout,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &push};
    return gpu_check(vkCreatePipelineLayout(d->h->g.device, &info, NULL, &d->layout),
                     "vkCreatePipelineLayout");
}

static bool make_module(const draw *d, const uint32_t *words, size_t size, VkShaderModule *module) {
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    return gpu_check(vkCreateShaderModule(d->h->g.device, &info, NULL, module),
                     "vkCreateShaderModule");
}

/* Two triangles a quad, blended over what is there. */
static bool make_pipeline(draw *d, VkShaderModule vertex, VkShaderModule fragment) {
    const VkPipelineShaderStageCreateInfo stages[] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main"}};
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1.0f};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState over = {
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                          VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &over};
    const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states};
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &input,
                                               .pInputAssemblyState = &assembly,
                                               .pViewportState = &viewport,
                                               .pRasterizationState = &raster,
                                               .pMultisampleState = &samples,
                                               .pColorBlendState = &blend,
                                               .pDynamicState = &dynamic,
                                               .layout = d->layout,
                                               .renderPass = d->h->pass};
    return gpu_check(
        vkCreateGraphicsPipelines(d->h->g.device, VK_NULL_HANDLE, 1, &info, NULL, &d->pipeline),
        "vkCreateGraphicsPipelines");
}

bool draw_create(draw *d, const host *h, const gpu_buffer *photos) {
    *d = (draw){.h = h};
    VkShaderModule vertex = VK_NULL_HANDLE, fragment = VK_NULL_HANDLE;
    const bool fine = gpu_make_buffer(&h->g, &d->quads, DRAW_QUADS * sizeof(struct quad), true) &&
                      make_set(d, photos) && make_layout(d) &&
                      make_module(d, quad_vert, sizeof quad_vert, &vertex) &&
                      make_module(d, quad_frag, sizeof quad_frag, &fragment) &&
                      make_pipeline(d, vertex, fragment);
    vkDestroyShaderModule(h->g.device, vertex, NULL);
    vkDestroyShaderModule(h->g.device, fragment, NULL);
    return fine;
}

void draw_destroy(draw *d) {
    if (!d->h || !d->h->g.device) {
        return;
    }
    VkDevice device = d->h->g.device;
    vkDestroyPipeline(device, d->pipeline, NULL);
    vkDestroyPipelineLayout(device, d->layout, NULL);
    vkDestroyDescriptorPool(device, d->pool, NULL);
    vkDestroyDescriptorSetLayout(device, d->set_layout, NULL);
    gpu_destroy_buffer(&d->h->g, &d->quads);
}

void draw_record(draw *d, VkCommandBuffer commands) {
    const host *h = d->h;
    const VkClearValue background = {.color = {.float32 = {0.055f, 0.06f, 0.08f, 1.0f}}};
    const VkRect2D whole = {.extent = h->size};
    const VkViewport viewport = {0.0f, 0.0f, (float)h->size.width, (float)h->size.height,
                                 0.0f, 1.0f};
    const float size[2] = {viewport.width, viewport.height};
    const VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                         .renderPass = h->pass,
                                         .framebuffer = h->framebuffers[h->image],
                                         .renderArea = whole,
                                         .clearValueCount = 1,
                                         .pClearValues = &background};
    vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, d->pipeline);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &whole);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, d->layout, 0, 1, &d->set, 0,
                            NULL);
    vkCmdPushConstants(commands, d->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof size, size);
    vkCmdDraw(commands, 6, d->count, 0, 0);
    vkCmdEndRenderPass(commands);
    d->count = 0;
}
