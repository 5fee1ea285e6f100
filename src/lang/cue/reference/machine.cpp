#include "lang/cue/reference/machine.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::cue::kcue {

Machine::Machine(Steps* steps, const TermPtr& program) : steps_(steps), head_(program) {
  if (steps_) tell("start", "the whole program");
  status_ = "running";
}

void Machine::tell(const std::string& rule, const std::string& what) {
  std::string dotted;
  for (const std::string& l : labels_)
    if (!l.empty()) dotted += fmt::format("{}{}", dotted.empty() ? "" : ".", l);
  steps_->step({rule, dotted, {}, what}, [this] { return cells(); });
}

// One rule application for each: see the opening of machine.h.
void Machine::bind(const TermPtr& fields) {
  for (auto& x : fields->all) {
    if (x->kind != TermKind::kField) continue;
    env_.back().emplace_back(x->text, x->inner);
    tell("bind", fmt::format("{} of scope {} is {}", x->text, env_.size() - 1, written(x->inner)));
  }
}

void Machine::heat_scope(const TermPtr& inner, const std::string& frame, const std::string& label) {
  frames_.push_back(frame);
  labels_.push_back(label);
  env_.push_back({});
  head_ = inner;
  tell(label.empty() ? "heat projection" : "heat field", fmt::format("{} is in hand", written(inner)));
  if (inner->kind == TermKind::kAll && inner->all.size() == 1) bind(inner);
}

void Machine::cool_scope(const TermPtr& out, bool field) {
  frames_.pop_back();
  labels_.pop_back();
  env_.pop_back();
  head_ = out;
  tell(field ? "cool field" : "cool projection", fmt::format("is {}", written(out)));
}

void Machine::heat_all(const TermPtr& conjunction, bool scope) {
  frames_.push_back("{ [] }");
  head_ = conjunction;
  tell("heat conjunction", fmt::format("{} terms", conjunction->all.size()));
  if (scope) bind(conjunction);
}

void Machine::heat_one(const TermPtr& term, const TermPtr& conjunction) {
  frames_.push_back("[] " + written_terms(conjunction));
  head_ = term;
  tell("heat term", fmt::format("{} is in hand", written(term)));
}

void Machine::cool_one(const TermPtr& term, const TermPtr& conjunction) {
  frames_.pop_back();
  head_ = conjunction;
  tell("cool term", fmt::format("{} is among them", written(term)));
}

void Machine::cool_all(const TermPtr& conjunction) {
  frames_.pop_back();
  head_ = unify(conjunction);
  tell("cool conjunction", "nu: fields of one label are one, equal terms are once");
}

void Machine::resolved(const char* rule, const TermPtr& now, const std::string& what) {
  head_ = now;
  tell(rule, what);
}

void Machine::again(const TermPtr& next) {
  env_.assign(1, {});
  head_ = next;
  fix_ = next;
  tell("fix", "the pass has changed the program: once more");
}

void Machine::stop(const TermPtr& value, bool fixed) {
  env_.assign(1, {});
  frames_.clear();
  labels_.clear();
  head_ = value;
  fix_ = nullptr;
  status_ = "stop";
  tell("clean", fixed ? "the pass has changed nothing: what is left of references goes"
                      : "nothing that is seen changes any more, or it never ends");
}

Steps::Cells Machine::cells() const {
  // The terms of a conjunction that is taken apart stand without its braces.
  bool apart = !frames_.empty() && frames_.back() == "{ [] }" && head_->kind == TermKind::kAll;
  std::string k = apart ? written_terms(head_) : written(head_);
  for (auto f = frames_.rbegin(); f != frames_.rend(); ++f)
    k += fmt::format("{}~> {}", f->starts_with("[] (") ? "\n" : " ", *f);
  k += " ~> .";
  std::string env;
  for (std::size_t n = 0; n < env_.size(); ++n) {
    std::string bound;
    for (const auto& [label, term] : env_[n])
      bound += fmt::format("{}{} |-> {}", bound.empty() ? "" : "\n        ", label, written(term));
    env += fmt::format("{}{} |-> ( {} )", n ? "\n" : "", n, bound.empty() ? ".Map" : bound);
  }
  std::vector<std::string> path;
  for (auto l = labels_.rbegin(); l != labels_.rend(); ++l)
    if (!l->empty()) path.push_back(*l);
  return {{"k", k},
          {"env", env},
          {"path", path.empty() ? ".List" : fmt::format("{}", fmt::join(path, ", "))},
          {"fix", fix_ ? written(fix_) : "."},
          {"status", status_}};
}

}  // namespace tutti::cue::kcue
