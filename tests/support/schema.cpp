/* SPDX-License-Identifier: MIT */
#include "schema.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

namespace {

char *copy_of(const std::string &text) {
    char *copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (copy == nullptr) {
        std::abort();
    }
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

char *syntax_error(const char *what, const rapidjson::Document &document) {
    return copy_of(std::string(what) + " is no JSON: byte " +
                   std::to_string(document.GetErrorOffset()) + ": " +
                   rapidjson::GetParseError_En(document.GetParseError()));
}

std::string text_of(const rapidjson::Pointer &pointer) {
    rapidjson::StringBuffer buffer;
    pointer.StringifyUriFragment(buffer);
    return buffer.GetString();
}

} // namespace

char *weft_test_schema_check(const char *schema, const char *document) {
    rapidjson::Document rules;
    rapidjson::Document values;
    if (rules.Parse(schema).HasParseError()) {
        return syntax_error("the schema", rules);
    }
    if (values.Parse(document).HasParseError()) {
        return syntax_error("the document", values);
    }
    rapidjson::SchemaDocument compiled(rules);
    rapidjson::SchemaValidator validator(compiled);
    if (values.Accept(validator)) {
        return nullptr;
    }
    return copy_of(text_of(validator.GetInvalidDocumentPointer()) + ": against \"" +
                   validator.GetInvalidSchemaKeyword() + "\" of " +
                   text_of(validator.GetInvalidSchemaPointer()));
}
