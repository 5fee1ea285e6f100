#pragma once

#include "lang/cue/eval/context.h"

namespace tutti::cue {

// `pw: string @secret()`, wherever the field is said.
bool is_secret(const Vertex* field);

// Tells the sources what an evaluated configuration keeps secret, also where a secret field is in error: from then on
// it is in no message, excerpt or explanation, and what is made of it is a secret.
void keep_secrets(const Vertex* root, Sources& sources);

}  // namespace tutti::cue
