// Feeds files to a fuzz target's function, one after the other, without libFuzzer and clang: what was found once is
// found by every build. usage: replay_NAME FILE-OR-FOLDER...
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/types.h"

extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size);

namespace {

std::vector<std::string> files_in(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> all;
  for (const auto& e : std::filesystem::directory_iterator(path)) all.push_back(e.path().string());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

int main(int count, char** words) {
  std::size_t fed = 0;
  for (int i = 1; i < count; i++)
    for (const std::string& path : files_in(words[i])) {
      std::ifstream in(path, std::ios::binary);
      std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
      std::fprintf(stderr, "\r%s", path.c_str());  // the last one said is the one that ends it
      LLVMFuzzerTestOneInput(reinterpret_cast<const tutti::u8*>(bytes.data()), bytes.size());
      fed++;
    }
  std::fprintf(stderr, "\n");
  std::printf("%zu inputs\n", fed);
  return fed > 0 ? 0 : 1;
}
