#include "format/yaml.h"

#include "reader.h"

extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  return tutti::fuzz_reader(data, size, [](tutti::Session& session, const tutti::Source& source) {
    return tutti::read_yaml(session, source);
  });
}
