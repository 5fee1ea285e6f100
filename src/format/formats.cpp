#include "format/formats.h"

#include <array>

#include "format/json.h"
#include "format/layout.h"
#include "format/toml.h"
#include "format/write.h"
#include "format/xml.h"
#include "format/yaml.h"

namespace tutti {
namespace {

class DataFormat : public Language {
 public:
  bool is_data() const override { return true; }

  std::optional<Value> evaluate(Session& session, const Request& request) const override {
    std::vector<Value> all;
    bool failed = false;
    for (const std::string& file : request.files) {
      const Source* source = session.open(file);
      std::optional<Value> value = source == nullptr ? std::nullopt : read(session, *source);
      failed |= !value;
      if (!value) continue;
      for (const Value& document : documents(*value)) all.push_back(document);
    }
    if (failed) return std::nullopt;
    if (all.size() == 1) return all[0];
    return documents_of(session.builder(), all, {});
  }

 protected:
  virtual std::optional<Value> read(Session& session, const Source& source) const = 0;
};

class JsonFormat final : public DataFormat {
 public:
  std::string_view name() const override { return "json"; }
  std::span<const std::string_view> extensions() const override {
    static constexpr std::array<std::string_view, 3> kExtensions = {".json", ".jsonl", ".ndjson"};
    return kExtensions;
  }

  bool can_format() const override { return true; }
  std::optional<std::string> format(Session& session, const Source& source) const override {
    return layout_json(session, source);
  }

 protected:
  std::optional<Value> read(Session& session, const Source& source) const override {
    bool stream = source.path.ends_with(".jsonl") || source.path.ends_with(".ndjson");
    return stream ? read_json_stream(session, source) : read_json(session, source);
  }
};

class YamlFormat final : public DataFormat {
 public:
  std::string_view name() const override { return "yaml"; }
  std::span<const std::string_view> extensions() const override {
    static constexpr std::array<std::string_view, 2> kExtensions = {".yaml", ".yml"};
    return kExtensions;
  }

  bool can_format() const override { return true; }
  std::optional<std::string> format(Session& session, const Source& source) const override {
    return layout_yaml(session, source);
  }

 protected:
  std::optional<Value> read(Session& session, const Source& source) const override {
    return read_yaml(session, source);
  }
};

class TomlFormat final : public DataFormat {
 public:
  std::string_view name() const override { return "toml"; }
  std::span<const std::string_view> extensions() const override {
    static constexpr std::array<std::string_view, 1> kExtensions = {".toml"};
    return kExtensions;
  }

  bool can_format() const override { return true; }
  std::optional<std::string> format(Session& session, const Source& source) const override {
    return layout_toml(session, source);
  }

 protected:
  std::optional<Value> read(Session& session, const Source& source) const override {
    return read_toml(session, source);
  }
};

class XmlFormat final : public DataFormat {
 public:
  std::string_view name() const override { return "xml"; }
  std::span<const std::string_view> extensions() const override {
    static constexpr std::array<std::string_view, 1> kExtensions = {".xml"};
    return kExtensions;
  }

 protected:
  std::optional<Value> read(Session& session, const Source& source) const override { return read_xml(session, source); }
};

}  // namespace

const Language& yaml_format() {
  static const YamlFormat format;
  return format;
}

const Language& toml_format() {
  static const TomlFormat format;
  return format;
}

const Language& xml_format() {
  static const XmlFormat format;
  return format;
}

const Language& json_format() {
  static const JsonFormat format;
  return format;
}

}  // namespace tutti
