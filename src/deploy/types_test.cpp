// The types that ship with tutti: each of them loads, and what can be asked of it is safe.
#include <gtest/gtest.h>

#include <filesystem>

#include "deploy/deployer.h"
#include "format/yaml.h"

namespace tutti::deploy {
namespace {

// A configuration with everything that the type requires.
std::string config_of(const Value& type) {
  const Entry* config = type.find("config");
  std::string out;
  if (config)
    for (const Entry& e : config->value.entries()) {
      const Entry* required = e.value.is(Kind::kMap) ? e.value.find("required") : nullptr;
      if (required && required->value.as_bool())
        out += (out.empty() ? "" : ", ") + std::string(e.key.text()) + ": /tmp/tutti-nothing";
    }
  return out;
}

class Types : public ::testing::Test {
 protected:
  Types() {
    auto p = record_in_memory();
    EXPECT_TRUE(p);
    record.emplace(std::move(*p));
    deployer.emplace(session, *record);
    types = library(session);
  }
  // Of the type itself and of those it extends.
  std::string config(std::string_view name) {
    std::string out;
    for (std::string at(name); !at.empty();) {
      const Value& type = types.find(at)->value;
      std::string more = config_of(type);
      if (!more.empty() && out.find(more) == std::string::npos) out += (out.empty() ? "" : ", ") + more;
      const Entry* e = type.find("extends");
      at = e ? std::string(e->value.text()) : "";
    }
    return out;
  }
  std::optional<Prepared> prepare(const std::string& text) {
    auto source = session.sources->add("system.yaml", text);
    auto tree = read_yaml(session, **source);
    return tree ? deployer->prepare(*tree, "", "apply") : std::nullopt;
  }
  Session session;
  std::optional<Record> record;
  std::optional<Deployer> deployer;
  Value types;
};

TEST_F(Types, AllAreThere) {
  for (const char* name : {"service", "thing", "task", "process", "systemd", "command", "container", "file", "package",
                           "generic", "job", "database", "Compound", "resource"})
    EXPECT_TRUE(types.find(name)) << name;
}

TEST_F(Types, EachSaysWhatItIs) {
  for (const Entry& e : types.entries()) EXPECT_TRUE(e.value.find("doc")) << e.key.text();
}

TEST_F(Types, EachComesUpAndGoesDownAndAnotherOneMayUseIt) {
  for (const Entry& e : types.entries()) {
    std::string name(e.key.text());
    if (name == "resource") continue;  // only catalogs are made of them
    std::string one = "{type: " + name + ", config: {" + config(name) + "}";
    auto p = prepare("system: s\ncomponents:\n  a: " + one + "}\n  b: " + one + ", uses: {it: a}}\n  c: " + one +
                     ", after: [b]}\n");
    std::string said = render(session.diagnostics, *session.sources, DiagnosticStyle::kLine, false);
    ASSERT_TRUE(p) << name << ": " << said;
    Check check = deployer->check(*p);
    EXPECT_TRUE(check.safe && check.complete) << name << (check.trouble.empty() ? "" : ": " + check.trouble[0]);
    // Compiling a type refuses groups that cannot be entered and places that nothing reaches.
    for (auto& type : p->program.system.types)
      for (auto& port : type->ports) EXPECT_FALSE(port.places.empty()) << name;
    EXPECT_EQ(session.diagnostics.errors(), 0u) << name << ": " << said;
  }
}

}  // namespace
}  // namespace tutti::deploy
