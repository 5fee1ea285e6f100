#include "format/toml.h"

#include "reader.h"

extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  return tutti::fuzz_reader(data, size, tutti::read_toml);
}
