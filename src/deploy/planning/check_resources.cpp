// What the actions of a plan will ask for: whether there is such a thing, and whether two ask for different ones.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <set>

#include "base/near.h"
#include "deploy/planning/stages.h"
#include "model/template.h"
#include "resource/real_path.h"

namespace tutti::deploy {
namespace {

// The setting that a complaint is about: the first whose value it quotes or that it names; the component where it is
// none of them.
Pos setting_meant(Session& session, const model::Component& c, std::string_view complaint) {
  auto part = [&](std::size_t i) {
    return i < complaint.size() && std::isalnum(static_cast<unsigned char>(complaint[i]));
  };
  auto place_of = [&](std::string_view word) {
    std::size_t at = word.empty() ? std::string_view::npos : complaint.find(word);
    return at == std::string_view::npos || part(at - 1) || part(at + word.size()) ? std::string_view::npos : at;
  };
  Pos meant;
  std::size_t first = std::string_view::npos;
  for (const Entry& e : c.config.entries()) {
    std::size_t at = std::min(place_of(e.key.text()), e.value.is(Kind::kString) ? place_of(e.value.text()) : first);
    if (at >= first) continue;
    first = at;
    meant = session.origins.nearest(e.value.origin());
  }
  return meant ? meant : c.at;
}

// The first parameter that no such resource has, with what may have been meant; "" when it has all of them.
std::string unknown_parameter(Session& session, const resource::Resource& r, Pos& where) {
  auto own = resource::find_provider(r.type)->parameters(), common = resource::common_parameters();
  std::vector<std::string_view> names(own.begin(), own.end());
  names.insert(names.end(), common.begin(), common.end());
  // Of commands: may be run again when it is not known whether it ran; removes what may be there in part only; makes
  // files that nobody else may purge.
  if (r.type == "exec") names.insert(names.end(), {"repeatable", "half_made", "holds", "shown"});
  for (const Entry& e : r.parameters.entries()) {
    std::string_view key = e.key.text();
    if (e.value.is(Kind::kNull) || key == "title" || key.starts_with("...") ||
        key.find("${") != std::string_view::npos || std::find(names.begin(), names.end(), key) != names.end())
      continue;
    std::string_view meant = nearest(e.key.text(), names);
    where = session.origins.nearest(e.value.origin());
    return fmt::format("`{}`{}", e.key.text(), meant.empty() ? "" : fmt::format(" (did you mean `{}`?)", meant));
  }
  return "";
}

// Whether nothing of it is left to what only running will tell.
bool is_known(const resource::Resource& r) {
  return r.title.find("${") == std::string::npos && !model::has_placeholders(r.parameters);
}

// Who brings about what, to tell those who want the same thing to be different.
class Claims {
 public:
  Claims(Session& session, const resource::CanonicalDirectory& real_directory, std::set<std::string>& said)
      : session_(session), real_(real_directory), said_(said) {}

  void add(const model::Component& c, const resource::Resource& r) {
    std::string ensure = resource::Params(r.parameters).text("ensure");
    if (ensure == "absent" || r.type == "exec" || r.type == "process" || r.type == "wait" || !is_known(r)) return;
    if (c.host.empty()) real_.learn(r);
    all_.push_back({&c, r});
  }

  void compare() {
    std::map<std::string, const Claim*> first;
    for (const Claim& claim : all_)
      for (auto& written : resource::find_provider(claim.resource.type)->writes(claim.resource)) {
        Symbol host = claim.component->host;
        std::string thing = host.empty() ? real_.of_thing(written) : written;
        const Claim* other = first.try_emplace(fmt::format("{} {}", host.text(), thing), &claim).first->second;
        if (other->component == claim.component || equal(other->resource.parameters, claim.resource.parameters) ||
            !said_.insert(fmt::format("{} {}", other->component->name.text(), claim.component->name.text())).second)
          continue;
        session_.diagnostics
            .warning("DEPLOY-SAME", claim.component->at,
                     fmt::format("`{}` and `{}` both bring about {}, and not in the same way",
                                 other->component->name.text(), claim.component->name.text(), thing))
            .note("whoever comes last wins, and the other one has drifted");
      }
  }

 private:
  struct Claim {
    const model::Component* component;
    resource::Resource resource;
  };
  Session& session_;
  resource::RealPaths real_;
  std::deque<Claim> all_;
  std::set<std::string>& said_;  // a call may make several plans of one system
};

}  // namespace

// The steps of all types that are written, used or not.
bool check_steps(Session& session, const Value& wanted) {
  std::size_t before = session.diagnostics.errors();
  const Entry* types = wanted.find("types");
  if (!types || !types->value.is(Kind::kMap)) return true;
  for (const Entry& type : types->value.entries()) {
    const Entry* transitions = type.value.is(Kind::kMap) ? type.value.find("transitions") : nullptr;
    if (!transitions || !transitions->value.is(Kind::kMap)) continue;
    for (const Entry& t : transitions->value.entries()) {
      const Value* step = nullptr;
      if (std::string wrong = t.value.is(Kind::kMap) ? resource::unknown_step(t.value, &step) : ""; !wrong.empty())
        session.diagnostics.error("DEPLOY-RESOURCE", session.origins.nearest(step->origin()),
                                  fmt::format("`{}` of type `{}`: {}", t.key.text(), type.key.text(), wrong));
      const Entry* todo = t.value.is(Kind::kMap) ? t.value.find("do") : nullptr;
      if (!todo) continue;
      for (const Value& one : todo->value.is(Kind::kList) ? todo->value.items() : std::span(&todo->value, 1))
        for (const Entry& e : one.is(Kind::kMap) ? one.entries() : std::span<const Entry>{}) {
          if (!e.value.is(Kind::kMap) || !resource::find_provider(e.key.text())) continue;
          Pos where;
          std::string name = unknown_parameter(session, {std::string(e.key.text()), "", e.value}, where);
          if (!name.empty())
            session.diagnostics.error("DEPLOY-RESOURCE", where,
                                      fmt::format("`{}` of type `{}`: {} has no parameter {}", t.key.text(),
                                                  type.key.text(), e.key.text(), name));
        }
    }
  }
  return session.diagnostics.errors() == before;
}

// A value that is put into a text for a shell is read by that shell.
void check_quoting(Session& session, const model::Component& c, const resource::Resource& r, const std::string& wrong,
                   bool mild, std::set<std::string>& said) {
  if (wrong.empty() || !said.insert(wrong).second) return;
  auto& told = session.diagnostics.add(mild ? Severity::kWarning : Severity::kError, "DEPLOY-UNQUOTED",
                                       setting_meant(session, c, wrong),
                                       fmt::format("`{}`: {} {}: {}", c.name.text(), r.type, r.title, wrong));
  std::size_t at = wrong.find("${");
  std::string path = at == std::string::npos ? "path" : wrong.substr(at + 2, wrong.find('}', at) - at - 2);
  told.suggest(
      fmt::format("write `${{'{}}}` for it, outside of other quotes: one word for the shell, whatever is in it", path));
}

// What actions will ask for, as far as it is known before they run: resources that there are, with parameters that can
// be.
bool check_resources(Session& session, const model::Deployment& wanted, const engine::PlannedSystem& program,
                     const resource::CanonicalDirectory& real_directory, std::set<std::string>& told) {
  std::size_t before = session.diagnostics.errors();
  const model::System& s = program.system;
  resource::Knowledge knowledge(program);
  knowledge.suppose();
  Claims claims(session, real_directory, told);
  for (u32 i = 0; i < s.instances.size(); ++i) {
    const model::Component* c = wanted.find(Symbol(program.component_of[i]));
    if (!c || program.instances[i].goes()) continue;
    std::set<std::string> said;  // the same file is made and altered
    for (auto& t : s.type_of(i).transitions) {
      const model::Action& action = s.type_of(i).action_of(t);
      std::string wrong = resource::unknown_step(action.what), whose, problem;
      Pos where;
      if (wrong.empty())
        for (auto& r : knowledge.resources(i, action, session.arena, problem)) {
          if (!wrong.empty() || !problem.empty()) break;
          if (std::string name = unknown_parameter(session, r, where); !name.empty())
            wrong = "there is no parameter " + name;
          if (wrong.empty() && is_known(r)) wrong = resource::find_provider(r.type)->check(r);
          if (!wrong.empty()) whose = fmt::format("{} {}: ", r.type, r.title);
          if (wrong.empty()) claims.add(*c, r);
          bool mild = false;
          if (std::string unquoted = resource::unquoted(r, mild); wrong.empty())
            check_quoting(session, *c, r, unquoted, mild, said);
        }
      if (!wrong.empty() && said.insert(whose + wrong).second)
        session.diagnostics.error("DEPLOY-RESOURCE", where ? where : setting_meant(session, *c, wrong),
                                  fmt::format("`{}` cannot {}: {}{}", c->name.text(), t.name.text(), whose, wrong));
    }
  }
  claims.compare();
  return session.diagnostics.errors() == before;
}

}  // namespace tutti::deploy
