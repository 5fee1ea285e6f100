#include "text/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "text/secret_marks.h"
#include "text/secret_words.h"

namespace tutti {

Result<const Source*> Sources::open(const std::string& path, u64 most) {
  {
    std::lock_guard lock(mutex_);
    for (const auto& s : sources_) {
      if (!s->path.empty() && s->path == path) return s.get();
    }
  }
  Result<std::string> text = read_file(path, most);
  if (!text) return tl::unexpected<Failure>(text.error());
  auto source = std::make_unique<Source>();
  source->name = path == "-" ? "<standard input>" : path;
  source->path = path;
  source->text = std::move(*text);
  return place(std::move(source));
}

Result<const Source*> Sources::add(std::string name, std::string text, std::string path) {
  auto source = std::make_unique<Source>();
  source->name = std::move(name);
  source->path = std::move(path);
  source->text = std::move(text);
  return place(std::move(source));
}

Result<const Source*> Sources::place(std::unique_ptr<Source> source) {
  std::lock_guard lock(mutex_);
  u64 end = next_ + source->text.size() + 1;
  if (end >= (u64{1} << 31)) return failure(fmt::format("{}: more than 2 GiB of sources in one run", source->name));
  source->first = {static_cast<u32>(next_)};
  next_ = end;
  sources_.push_back(std::move(source));
  return sources_.back().get();
}

const Source* Sources::find(Pos pos) const {
  if (!pos) return nullptr;
  std::lock_guard lock(mutex_);
  auto after = std::upper_bound(sources_.begin(), sources_.end(), pos,
                                [](Pos p, const std::unique_ptr<Source>& s) { return p < s->first; });
  return after == sources_.begin() ? nullptr : std::prev(after)->get();
}

namespace {

constexpr std::size_t kBlock = 1024;

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<u8>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::size_t Source::characters_before(std::size_t offset) const {
  std::size_t block = offset / kBlock;
  return characters_[block] + characters_in(std::string_view(text).substr(block * kBlock, offset - block * kBlock));
}

Location Sources::locate(Pos pos) const {
  const Source* source = find(pos);
  if (source == nullptr) return {};
  std::string_view text = source->text;
  std::call_once(source->lines_once_, [&] {
    source->lines_.push_back(0);
    for (const char* p = text.data();
         (p = static_cast<const char*>(std::memchr(p, '\n', text.data() + text.size() - p)));) {
      source->lines_.push_back(static_cast<u32>(++p - text.data()));
    }
    source->characters_.push_back(0);
    for (std::size_t at = 0; at + kBlock <= text.size(); at += kBlock) {
      source->characters_.push_back(source->characters_.back() +
                                    static_cast<u32>(characters_in(text.substr(at, kBlock))));
    }
  });
  std::size_t offset = std::min(source->offset(pos), text.size());
  auto after = std::upper_bound(source->lines_.begin(), source->lines_.end(), offset);
  std::size_t start = *std::prev(after);
  std::size_t end = after == source->lines_.end() ? text.size() : *after - 1;
  if (end > start && text[end - 1] == '\r') end--;
  end = std::max(end, start);
  Location where;
  where.file = source->name;
  where.line = static_cast<u32>(after - source->lines_.begin());
  std::size_t before = offset - start < kBlock ? characters_in(text.substr(start, offset - start))
                                               : source->characters_before(offset) - source->characters_before(start);
  where.column = static_cast<u32>(before) + 1;
  where.byte = static_cast<u32>(offset - start) + 1;
  where.text = text.substr(start, end - start);
  return where;
}

std::string Sources::show(Pos pos) const {
  Location where = locate(pos);
  return where.line == 0 ? std::string{} : fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

struct Sources::Secrets {
  SecretWords said, all;
  std::size_t learned = 0;  // of how many sources the marks are known
  bool marked = false;
};

Sources::Sources() : secrets_(std::make_unique<Secrets>()) {}
Sources::~Sources() = default;

// What sources mark, of those that have come meanwhile: asked for when there is something to show, which for most
// configurations is never.
void Sources::learn() const {
  for (std::size_t& next = secrets_->learned; next < sources_.size(); next++) {
    secrets_->marked = secrets_->marked || has_secret_mark(sources_[next]->text);
    SecretMarks marks = secret_marks(sources_[next]->text);
    sources_[next]->secret_ = std::move(marks.spans);
    for (const std::string& word : marks.words) secrets_->all.add_lines(word);
  }
}

void Sources::keep_secret(std::string_view text) {
  std::lock_guard lock(mutex_);
  secrets_->said.add_lines(text);
  secrets_->all.add_lines(text);
}

bool Sources::has_secrets() const {
  std::lock_guard lock(mutex_);
  learn();
  return secrets_->marked || !secrets_->all.empty();
}

bool Sources::has_said_secrets() const {
  std::lock_guard lock(mutex_);
  return !secrets_->said.empty();
}

SecretWords Sources::said_secrets() const {
  std::lock_guard lock(mutex_);
  return secrets_->said;
}

std::string Sources::masked(std::string_view text) const {
  std::lock_guard lock(mutex_);
  learn();
  return secrets_->all.starred(text);
}

std::string Sources::masked_line(Pos pos) const {
  Location where = locate(pos);
  std::string line = masked(where.text);
  const Source* source = find(pos);
  if (source == nullptr) return line;
  std::lock_guard lock(mutex_);
  std::size_t begin = std::min(source->offset(pos), source->text.size()) - (where.byte - 1), end = begin + line.size();
  for (auto [from, to] : source->secret_) {
    if (from >= end) break;
    if (to > begin)
      std::fill(line.begin() + (std::max<std::size_t>(from, begin) - begin),
                line.begin() + (std::min<std::size_t>(to, end) - begin), '*');
  }
  return line;
}

}  // namespace tutti
