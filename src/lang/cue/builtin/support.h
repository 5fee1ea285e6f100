#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/cue/builtin/registry.h"

// What the packages share.
namespace tutti::cue {

// Decimals come back as integers where they are whole, and as floats otherwise.
Node* number_result(CallContext& c, const Decimal& d);
Node* number_result(CallContext& c, const DecimalResult& r);
Node* float_result(CallContext& c, double d);  // "invalid float" for what is not finite
Node* int_result(CallContext& c, const Decimal& d);
Node* strings_result(CallContext& c, const std::vector<std::string>& items);

// The kind of an argument as it is: 0 for what is not concrete.
Kinds concrete_kind(Node* n);
Node* plain(Node* n);  // what a vertex stands for when that is a scalar, else itself

// As Go's %q shows it; with the mark ' a character.
std::string go_quote(std::string_view s, char mark = '"', bool ascii = false);

// A check that failed: an error of its own, not one "in call to".
Node* validation_error(CallContext& c, Code code, std::string_view message);

// One function a package; called by register_packages().
void add_strings();
void add_strconv();
void add_list();
void add_math();
void add_bits();
void add_struct();
void add_regexp();
void add_time();
void add_net();
void add_path();
void add_uuid();
void add_html();
void add_crypto();
void add_base64();
void add_hex();
void add_csv();
void add_json();
void add_yaml();
void add_toml();
void add_template();
void add_tabwriter();
void add_tool();
void add_openapi();  // schema/package.cpp

}  // namespace tutti::cue
