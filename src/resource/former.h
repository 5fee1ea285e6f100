#pragma once

#include "resource/provider.h"

// What an account, an entry of a system's file or a service was before its component came, said as parameters of the
// same resource: it is given back by bringing them about. A list is `name[]`, an item on each line; `name!` is given
// back whether or not the component speaks of it. With `ensure!` it is one of these.
namespace tutti::resource {

std::string former_list(const std::vector<std::string>& items);

// Whether something else was there, and is only brought to be otherwise.
bool was_there(const Context& context, const Findings& findings);

// The resource that gives back what was, in place of its removal. Of what its component does not speak of (`held`, as
// it left it; null where nobody knows) others may have made something else.
Resource given_back(const Resource& removal, const Value& former, const Value& held, const Sealing* sealing,
                    Arena& arena);
inline bool is_given_back(const Value& former) { return former.is(Kind::kMap) && former.find("ensure!"); }

}  // namespace tutti::resource
