// How a path differs from what it should be: the same look serves the dry run, the run and drift. Changes are told in
// Puppet's words, which people and tools know.
#include <fmt/format.h>

#include <algorithm>

#include "resource/file/file.h"
#include "resource/mode.h"

namespace tutti::resource {
namespace {

using Ensure = WantedFile::Ensure;

std::string brace(const Context& c, std::string_view bytes) {
  std::string word = digest_word(c);
  return fmt::format("{{{}}}{}", word, digest_of(word, bytes));
}

// "{sha256}2cf2..." as the content of a catalog's file is a checksum, as in Puppet.
bool is_checksum(std::string_view text) {
  static constexpr std::pair<std::string_view, std::size_t> kSums[] = {
      {"{md5}", 32}, {"{sha1}", 40}, {"{sha224}", 56}, {"{sha256}", 64}, {"{sha384}", 96}, {"{sha512}", 128}};
  return std::any_of(std::begin(kSums), std::end(kSums), [&](auto& sum) {
    return text.starts_with(sum.first) && text.size() == sum.first.size() + sum.second &&
           text.find_first_not_of("0123456789abcdef", sum.first.size()) == std::string_view::npos;
  });
}

FileKind kind_of(Ensure ensure) {
  return ensure == Ensure::kDirectory ? FileKind::kDirectory
         : ensure == Ensure::kLink    ? FileKind::kLink
         : ensure == Ensure::kFile    ? FileKind::kFile
                                      : FileKind::kAbsent;
}

std::string_view ensure_text(Ensure ensure) {
  return ensure == Ensure::kDirectory ? "directory"
         : ensure == Ensure::kLink    ? "link"
         : ensure == Ensure::kPresent ? "present"
                                      : "file";
}

class Comparison {
 public:
  Comparison(Context& c, WantedFile want) : c_(c) { step_.want = std::move(want); }

  Result<FileStep> go() {
    if (auto known = resolve_checksum(); !known) return tl::unexpected(known.error());
    auto is = c_.host.stat(want().path, follows(), want().content.has_value());
    if (!is) return tl::unexpected(is.error());
    step_.is = std::move(*is);
    if (state().kind == FileKind::kOther && (kind_of(want().ensure) != FileKind::kAbsent || want().content))
      return failure(fmt::format("{} is neither a file nor a directory nor a link, and is left", want().path));
    warn_of_no_content();
    if (!existence()) {
      if (auto compared = content(); !compared) return tl::unexpected(compared.error());
      target();
      owners();
      mode();
    }
    return std::move(step_);
  }

 private:
  WantedFile& want() { return step_.want; }
  const FileState& state() const { return step_.is; }
  bool is_there() const { return state().kind != FileKind::kAbsent; }
  bool follows() const { return c_.params.text("links") == "follow"; }
  // Without `replace` what is there stays, whatever it is.
  bool replaces() const { return c_.params.truth("replace", true); }

  void add(std::string property, std::string text, std::string from, std::string to) {
    step_.changes.push_back({std::move(property), std::move(text), std::move(from), std::move(to),
                             want().child ? fmt::format("File[{}]", want().path) : "", false});
  }

  // A content that is only a checksum is that of the file as it is, or of nothing that we have.
  Result<void> resolve_checksum() {
    if (!c_.catalog || !want().content || want().child || !is_checksum(*want().content)) return {};
    auto now = c_.host.stat(want().path, follows(), true);
    if (!now) return tl::unexpected(now.error());
    if (now->kind != FileKind::kFile || "{sha256}" + now->digest != *want().content)
      return failure(fmt::format("content {} is a checksum of what is in no filebucket here", *want().content));
    want().content.reset();
    return {};
  }

  void warn_of_no_content() {
    if (want().ensure == Ensure::kPresent && want().content && is_there() && state().kind != FileKind::kFile)
      c_.say(Level::kWarning, fmt::format(": Ensure set to :present but file type is {} so no content will be synced",
                                          kind_text(state().kind)));
  }

  // Whether it is to come, to go or to become something else; then nothing more is compared.
  bool existence() {
    std::string from(kind_text(state().kind));
    FileKind kind = kind_of(want().ensure);
    if (want().ensure == Ensure::kAbsent) {
      if (is_there() && replaces()) add("ensure", "removed", from, "absent");
      return true;
    }
    if (!is_there()) {
      if (want().ensure == Ensure::kUnset) return true;  // nothing is said about its being there
      add("ensure",
          want().secret    ? "changed [redacted] to [redacted]"
          : want().content ? fmt::format("defined content as '{}'", brace(c_, *want().content))
                           : "created",
          "absent", std::string(ensure_text(want().ensure)));
      return true;
    }
    if (kind == FileKind::kAbsent || state().kind == kind || !replaces()) return false;
    std::string to(kind_text(kind));
    add("ensure",
        want().content && !want().secret ? fmt::format("defined content as '{}'", brace(c_, *want().content))
                                         : fmt::format("ensure changed '{}' to '{}'", from, to),
        from, to);
    return true;
  }

  Result<void> content() {
    if (!want().content || state().kind != FileKind::kFile || !replaces()) return {};
    if (sha256_hex(*want().content) == state().digest) return {};
    if (want().secret) {
      add("content", "changed [redacted] to [redacted]", "[redacted]", "[redacted]");
      return {};
    }
    std::string before = "{sha256}" + state().digest, after = brace(c_, *want().content);
    if (digest_word(c_) != "sha256") {
      auto old = c_.host.read(want().path);
      if (!old) return tl::unexpected(old.error());
      before = brace(c_, *old);
    }
    add("content", fmt::format("content changed '{}' to '{}'", before, after), before, after);
    return {};
  }

  void target() {
    if (want().ensure == Ensure::kLink && state().kind == FileKind::kLink && state().target != want().target)
      add("target", fmt::format("target changed '{}' to '{}'", state().target, want().target), state().target,
          want().target);
  }

  void owners() {
    const FileState& is = state();
    if (!want().owner.empty() && want().owner != is.owner && want().owner != std::to_string(is.uid))
      change_id("owner", is.owner, want().owner);
    if (!want().group.empty() && want().group != is.group && want().group != std::to_string(is.gid))
      change_id("group", is.group, want().group);
  }

  // Numbers are shown without quotes.
  void change_id(const char* property, const std::string& from, const std::string& to) {
    bool number = to.find_first_not_of("0123456789") == std::string::npos;
    add(property, fmt::format("{0} changed '{1}' to {3}{2}{3}", property, from, to, number ? "" : "'"), from, to);
    step_.changes.back().bare_to = number;
  }

  void mode() {
    const std::string& wanted = want().mode;
    if (wanted.empty() || state().kind == FileKind::kLink) return;
    auto mode = mode_from(wanted, state().mode, state().kind == FileKind::kDirectory);
    if (!mode) {
      add("mode", "", mode_text(state().mode), wanted);  // it fails when it is made, as in Puppet
    } else if (*mode != state().mode) {
      bool symbolic = mode_is_symbolic(wanted);
      std::string from = mode_text(state().mode), to = mode_text(*mode);
      add("mode", fmt::format("mode changed '{}' to '{}'{}", from, to, symbolic ? " (" + wanted + ")" : ""), from,
          symbolic ? wanted : to);
    }
  }

  Context& c_;
  FileStep step_;
};

}  // namespace

Result<FileStep> compare_file(Context& c, WantedFile want) { return Comparison(c, std::move(want)).go(); }

}  // namespace tutti::resource
