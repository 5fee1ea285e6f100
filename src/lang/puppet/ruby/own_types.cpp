#include "lang/puppet/ruby/own_types.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/boundary.h"
#include "base/file.h"
#include "lang/puppet/environment.h"
#include "lang/puppet/ruby/bridge.h"
#include "lang/puppet/ruby/process.h"
#include "lang/puppet/types/type.h"

namespace fs = std::filesystem;

namespace tutti::puppet {
namespace {

constexpr u64 kLongestFile = u64{16} << 20;

std::string why_not_all(const std::string& type, const Module& module, bool something) {
  return fmt::format("{} is known of the type {} (module {}){}: its attributes are not checked",
                     something ? "not everything" : "nothing", type, module.name.text(),
                     !may_run_code()            ? " without running its Ruby code, which needs trust"
                     : RubyProcess::available() ? ""
                                                : " without Ruby");
}

}  // namespace

// The first module of the path that has a type is the one that counts.
void OwnTypes::scan(Environment& environment) {
  if (scanned_) return;
  scanned_ = true;
  for (const Module* m : environment.modules()) {
    std::error_code error;
    for (const auto& e : fs::directory_iterator(m->path + "/lib/puppet/type", error))
      if (e.path().extension() == ".rb") files_.try_emplace(e.path().stem().string(), File{e.path().string(), m});
  }
}

OwnTypes::Known OwnTypes::read(Environment& environment, const std::string& lower, const File& file) {
  Result<std::string> text = read_file(file.path, kLongestFile);
  if (text && !made_from(lower, *text).empty()) return {};
  Known known;
  std::optional<NativeType> told = describe_ruby_type(environment, lower, file.path);
  if (!told || told->open) known.warning = why_not_all(lower, *file.module, told.has_value());
  known.type = std::make_unique<NativeType>();
  if (told) {
    *known.type = std::move(*told);
  } else {
    // The name of a type says what it is for: what another version has for titles is the best there is to go by.
    if (const NativeType* other = native_type(lower)) *known.type = *other;
    known.type->open = true;
  }
  known.type->name = Symbol(capitalize_segments(lower));
  if (known.type->namevars.empty()) known.type->namevars.emplace_back("name");
  known.type->attributes.emplace_back("provider");  // every type has it
  return known;
}

const NativeType* OwnTypes::find(Environment& environment, std::string_view name, std::string* warning) {
  if (environment.settings().modulepath.empty()) return nullptr;
  std::string lower = downcase(name);
  std::lock_guard lock(mutex_);
  scan(environment);
  auto file = files_.find(lower);
  if (file == files_.end()) return nullptr;
  auto [at, fresh] = known_.try_emplace(lower);
  if (fresh) at->second = read(environment, lower, file->second);
  if (warning != nullptr) *warning = at->second.warning;
  return at->second.type.get();
}

}  // namespace tutti::puppet
