/* SPDX-License-Identifier: MIT */
#include "model/sentencepiece_shim.h"

#include <sentencepiece_processor.h>

#include <climits>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

struct weft_spm {
    sentencepiece::SentencePieceProcessor processor;
};

namespace {

weft_spm_result fail(char *reason, const char *text) {
    std::snprintf(reason, WEFT_SPM_REASON_SIZE, "%s", text);
    return WEFT_SPM_FAILED;
}

weft_spm_result result_of(const sentencepiece::util::Status &status, char *reason) {
    return status.ok() ? WEFT_SPM_OK : fail(reason, status.ToString().c_str());
}

/* Runs `body`, and turns whatever it throws into a result. */
template <typename Body> weft_spm_result guarded(char *reason, Body body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return WEFT_SPM_OUT_OF_MEMORY;
    } catch (const std::exception &exception) {
        return fail(reason, exception.what());
    } catch (...) {
        return fail(reason, "unknown exception");
    }
}

} // namespace

weft_spm_result weft_spm_create(weft_spm **spm, const void *model, size_t size,
                                char reason[WEFT_SPM_REASON_SIZE]) {
    return guarded(reason, [&]() {
        if (size > static_cast<size_t>(INT_MAX)) {
            return fail(reason, "larger than 2 GiB");
        }
        auto created = std::make_unique<weft_spm>();
        std::string_view bytes(static_cast<const char *>(model), size);
        weft_spm_result result =
            result_of(created->processor.LoadFromSerializedProto(bytes), reason);
        if (result == WEFT_SPM_OK) {
            *spm = created.release();
        }
        return result;
    });
}

void weft_spm_destroy(weft_spm *spm) {
    delete spm;
}

uint32_t weft_spm_size(const weft_spm *spm) {
    return static_cast<uint32_t>(spm->processor.GetPieceSize());
}

int32_t weft_spm_find(const weft_spm *spm, const char *piece, size_t size) {
    std::string_view wanted(piece, size);
    /* PieceToId gives the unknown piece for what it does not know. */
    int id = spm->processor.PieceToId(wanted);
    return id >= 0 && spm->processor.IdToPiece(id) == wanted ? id : -1;
}

int32_t weft_spm_unknown(const weft_spm *spm) {
    return spm->processor.unk_id();
}

weft_spm_result weft_spm_encode(const weft_spm *spm, const char *text, size_t size,
                                weft_spm_take take, void *user, char reason[WEFT_SPM_REASON_SIZE]) {
    return guarded(reason, [&]() {
        std::vector<std::string> pieces;
        weft_spm_result result =
            result_of(spm->processor.Encode(std::string_view(text, size), &pieces), reason);
        for (size_t i = 0; result == WEFT_SPM_OK && i < pieces.size(); i++) {
            if (!take(user, pieces[i].data(), pieces[i].size())) {
                break;
            }
        }
        return result;
    });
}

weft_spm_result weft_spm_decode(const weft_spm *spm, const int32_t *ids, size_t count,
                                weft_spm_take take, void *user, char reason[WEFT_SPM_REASON_SIZE]) {
    return guarded(reason, [&]() {
        std::string text;
        weft_spm_result result =
            result_of(spm->processor.Decode(std::vector<int>(ids, ids + count), &text), reason);
        if (result == WEFT_SPM_OK) {
            take(user, text.data(), text.size());
        }
        return result;
    });
}
