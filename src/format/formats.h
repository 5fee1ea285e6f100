#pragma once

#include "lang/common/language.h"

namespace tutti {

// The data formats as languages. Several files of data are several documents.
const Language& json_format();
const Language& yaml_format();
const Language& toml_format();
const Language& xml_format();

}  // namespace tutti
