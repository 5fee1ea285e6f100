#include <gtest/gtest.h>

#include "lang/cue/module/cache.h"
#include "lang/cue/module/graph.h"
#include "lang/cue/module/registry.h"
#include "lang/cue/module/unzip.h"
#include "lang/cue/module/version.h"

namespace tutti::cue {
namespace {

TEST(CueModuleVersion, Order) {
  const char* ascending[] = {"none",        "v0.1.0-alpha", "v0.1.0-alpha.1", "v0.1.0-alpha.2", "v0.1.0-alpha.10",
                             "v0.1.0-beta", "v0.1.0-rc.1",  "v0.1.0",         "v0.2.0",         "v0.10.0",
                             "v1.0.0"};
  for (std::size_t i = 0; i < std::size(ascending); ++i)
    for (std::size_t j = 0; j < std::size(ascending); ++j)
      EXPECT_EQ(is_older(ascending[i], ascending[j]), i < j) << ascending[i] << " " << ascending[j];
  EXPECT_TRUE(is_whole_version("v1.2.3-rc.1"));
  for (const char* wrong : {"1.2.3", "v1.2", "v01.2.3", "v1.2.3+x", "v1.2.3-", "v1.2.3-../x", "v1.2.3/../.."})
    EXPECT_FALSE(is_whole_version(wrong)) << wrong;
}

std::string located(const std::string& registry, const std::string& module, const std::string& version) {
  Result<RegistryMap> map = RegistryMap::parse(registry);
  if (!map) return "error: " + map.error().message;
  std::optional<RegistryLocation> at = map->locate(module, version);
  return at ? (at->insecure ? "http://" : "https://") + at->host + "/" + at->repository + ":" + at->tag : "none";
}

TEST(CueModuleRegistry, WhereModulesAre) {
  EXPECT_EQ(located("", "a.b/c", "v1.0.0"), "https://registry.cue.works/a.b/c:v1.0.0");
  EXPECT_EQ(located("none", "a.b/c", "v1.0.0"), "none");
  EXPECT_EQ(located("localhost:5000", "a.b/c", "v1.0.0"), "http://localhost:5000/a.b/c:v1.0.0");
  EXPECT_EQ(located("127.0.0.1+secure", "a.b/c", "v1.0.0"), "https://127.0.0.1/a.b/c:v1.0.0");
  EXPECT_EQ(located("r.example/x+insecure", "a.b/c", "v1.0.0"), "http://r.example/x/a.b/c:v1.0.0");
  // the longest prefix of whole elements
  const std::string list = "a.b=one.example,a.b/c=two.example/p,a.b/cd=none,others.example";
  EXPECT_EQ(located(list, "a.b/x", "v1.0.0"), "https://one.example/a.b/x:v1.0.0");
  EXPECT_EQ(located(list, "a.b/c/d", "v1.0.0"), "https://two.example/p/a.b/c/d:v1.0.0");
  EXPECT_EQ(located(list, "a.b/ce", "v1.0.0"), "https://one.example/a.b/ce:v1.0.0");
  EXPECT_EQ(located(list, "a.b/cd", "v1.0.0"), "none");
  EXPECT_EQ(located(list, "z.b", "v1.0.0"), "https://others.example/z.b:v1.0.0");
  EXPECT_EQ(located("simple:" + list, "z.b", "v1.0.0"), "https://others.example/z.b:v1.0.0");
  const std::string file = R"(inline:
    defaultRegistry: registry: "d.example"
    moduleRegistries: "a.b": {registry: "s.example/r", pathEncoding: "path", stripPrefix: true}
    moduleRegistries: "h.b": {registry: "h.example/all", pathEncoding: "hashAsRepo"}
    moduleRegistries: "t.b": {registry: "t.example/all", pathEncoding: "hashAsTag", prefixForTags: "p-"})";
  EXPECT_EQ(located(file, "a.b/c", "v1.0.0"), "https://s.example/r/c:v1.0.0");
  EXPECT_EQ(located(file, "a.b", "v1.0.0"), "https://s.example/r:v1.0.0");
  EXPECT_EQ(located(file, "h.b/c", "v1.0.0"), "https://h.example/all/" + sha256_text("h.b/c") + ":v1.0.0");
  EXPECT_EQ(located(file, "t.b/c", "v1.0.0"), "https://t.example/all:p-" + sha256_text("t.b/c") + "-v1.0.0");
  EXPECT_EQ(located(file, "z.b", "v1.0.0"), "https://d.example/z.b:v1.0.0");
  for (const char* wrong : {"a,", "a.b=", "=x", "x,y", "a.b=x,a.b=y", "x/y:tag", "x+quick", "A.B=x"})
    EXPECT_TRUE(located(wrong, "a.b/c", "v1.0.0").starts_with("error: ")) << wrong;
}

TEST(CueModuleArchive, ThereAndBack) {
  ZipWriter z;
  z.add("cue.mod/module.cue", "module: \"a.b/c@v0\"\n");
  z.add("x.cue", std::string(100'000, 'x'));
  z.add("empty", "");
  std::string bytes = z.finish();
  std::map<std::string, std::string> files;
  auto take = [&](const std::string& name, std::string_view content) -> Result<void> {
    files[name] = content;
    return {};
  };
  ASSERT_TRUE(unzip(bytes, 1 << 20, take));
  EXPECT_EQ(files.size(), 3u);
  EXPECT_EQ(files["x.cue"], std::string(100'000, 'x'));
  EXPECT_FALSE(unzip(bytes, 1000, take));  // too much
  for (std::size_t i = 0; i < bytes.size(); i += 97) {
    std::string broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ 0x40);
    (void)unzip(broken, 1 << 20, take);  // an error or not, but no harm
    (void)unzip(std::string_view(bytes).substr(0, i), 1 << 20, take);
  }
  for (const char* name : {"../x", "/x", "a/../../x", "a\\x", "."}) {
    ZipWriter hostile;
    hostile.add(name, "x");
    EXPECT_FALSE(unzip(hostile.finish(), 1 << 20, take)) << name;
  }
}

// Modules that only have dependencies.
class OnlyNeeds : public ModuleSource {
 public:
  std::map<std::string, std::map<std::string, std::string>> needs;  // by path@version
  std::vector<std::string> asked;
  Result<ModuleFile> module_file(const std::string& path, const std::string& version) override {
    asked.push_back(path + " " + version);
    auto it = needs.find(path + " " + version);
    if (it == needs.end()) return failure("module not found");
    ModuleFile m;
    for (const auto& [of, v] : it->second) m.needs[of].version = v;
    return m;
  }
  Result<std::string> folder(const std::string&, const std::string&) override { return failure("no content"); }
};

TEST(CueModuleGraph, TheSmallestVersionThatSatisfiesAll) {
  OnlyNeeds source;
  source.needs["b.x@v1 v1.1.0"] = {{"d.x@v1", "v1.1.0"}};
  source.needs["c.x@v1 v1.2.0"] = {{"d.x@v1", "v1.4.0"}, {"a.x@v0", "v0.9.0"}};
  source.needs["d.x@v1 v1.1.0"] = {{"e.x@v1", "v1.1.0"}};
  source.needs["d.x@v1 v1.4.0"] = {{"e.x@v1", "v1.2.0"}, {"b.x@v1", "v1.0.0"}};
  source.needs["e.x@v1 v1.1.0"] = source.needs["e.x@v1 v1.2.0"] = source.needs["b.x@v1 v1.0.0"] = {};
  ModuleFile main;
  main.module = "a.x";
  main.needs["b.x@v1"].version = "v1.1.0";
  main.needs["c.x@v1"].version = "v1.2.0";
  auto none = [](const std::string&) -> Result<ModuleFile> { return failure("no folder"); };
  ModuleGraph graph(main, "/nowhere", source, none);
  auto all = graph.selected();
  ASSERT_TRUE(all);
  std::map<std::string, std::string> wanted = {
      {"b.x@v1", "v1.1.0"}, {"c.x@v1", "v1.2.0"}, {"d.x@v1", "v1.4.0"}, {"e.x@v1", "v1.2.0"}};
  EXPECT_EQ(*all, wanted);
  source.needs.erase("e.x@v1 v1.2.0");
  EXPECT_FALSE(ModuleGraph(main, "/nowhere", source, none).selected());
}

TEST(CueModuleCache, NamesThatLeadOut) {
  ModuleCache cache(false);
  for (const char* path : {"../../etc@v0", "a.b/../c@v0", "/etc@v0", "a.b//c@v0", "A.b@v0"})
    EXPECT_TRUE(cache.folder(path, "v0.1.0").error().message.starts_with("malformed module path")) << path;
  EXPECT_TRUE(cache.folder("a.b/c@v0", "v0.1.0/../../x").error().message.ends_with("is not canonical"));
}

}  // namespace
}  // namespace tutti::cue
