#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/facts/module_facts.h"
#include "lang/puppet/facts/parts.h"

namespace tutti::puppet {

bool Compiler::is_facts(const Node* n) {
  static const Symbol facts("facts");
  return n->kind == NodeKind::kVariable && as<Named>(n).local == facts && as<Named>(n).scope.empty();
}

void Compiler::add_facts(const Val& more) {
  HashDraft all;
  for (const Pair& p : node_.facts.entries()) all.set(p.key, p.value);
  for (const Pair& p : more.entries()) {
    if (!p.key.is(VK::kString) || node_.facts.get(p.key.text()) != nullptr) continue;
    all.set(p.key, p.value);
    set_variable(*top_, Symbol(p.key.text()), p.value);
  }
  node_.facts = all.build(session_.arena);
  static const Symbol facts("facts");
  if (const Val* there = top_->vars.find(facts)) *const_cast<Val*>(there) = node_.facts;  // NOLINT: it only grows
}

bool Compiler::gather_module_facts(std::string_view name) {
  if (!settings().facts_of_host || !node_.facts.is(VK::kHash) || facter_asked_) return false;
  bool more = false;
  if (!module_facts_) {
    std::vector<std::string> folders;
    for (const Module* m : environment_.modules()) folders.push_back(m->path);
    module_facts_ = std::make_unique<ModuleFacts>(folders);
    if (!module_facts_->external().empty()) {
      MapDraft external;
      add_external_facts(session_, module_facts_->external(), external);
      add_facts(from_tree(session_.arena, external.build(session_.builder())));
      more = true;
    }
  }
  if (name.empty() ? module_facts_->none() : !module_facts_->promises(name)) return more;
  // Each asking starts facter anew; whoever wants many facts is given all.
  constexpr std::size_t kOneByOne = 3;
  if (!name.empty() && !facts_asked_.insert(std::string(name)).second) return more;
  if (facts_asked_.size() > kOneByOne) name = {};
  facter_asked_ = name.empty();
  std::optional<Val> answer = module_facts_->ask_facter(session_, name);
  facter_asked_ = facter_asked_ || !answer;
  if (answer) add_facts(*answer);
  return true;
}

const Val* Compiler::facts_with(Scope& scope, std::string_view name) {
  static const Symbol facts("facts");
  const Val* found = find_variable(scope, facts, {}, false);
  if (found == nullptr || !settings().facts_of_host || found != top_->vars.find(facts)) return found;
  if (name.empty() || node_.facts.get(name) == nullptr) gather_module_facts(name);
  return top_->vars.find(facts);
}

void Compiler::gather_facts_named_in(std::string_view text) {
  if (!settings().facts_of_host || text.find("facts") == std::string_view::npos) return;
  gather_module_facts("facts");  // no module brings one of that name: now it is known what they do bring
  for (const std::string& name : module_facts_ ? module_facts_->names() : std::set<std::string, std::less<>>{}) {
    if (text.find(name) != std::string_view::npos) gather_module_facts(name);
  }
}

}  // namespace tutti::puppet
