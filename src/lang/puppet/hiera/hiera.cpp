#include "lang/puppet/hiera/hiera.h"

#include <fmt/format.h>

#include <set>

#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/hiera/lookup.h"
#include "lang/puppet/hiera/story.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {

class Hiera::Host : public HieraHost {
 public:
  explicit Host(Compiler& compiler)
      : data(compiler.environment().data_files(), compiler.arena(), compiler.settings().environment_dir,
             compiler.settings().hiera_config),
        compiler_(compiler) {}

  const Val* variable(std::string_view name, std::string_view within) override {
    const Val* found = name == "facts" ? compiler_.facts_with(*scope, within) : compiler_.find_variable(*scope, name);
    if (found == nullptr && compiler_.settings().strict != Settings::Strict::kOff &&
        missed_.insert(std::string(name)).second)
      compiler_.diagnostics().warning("PP-UNKNOWN-VARIABLE", at,
                                      fmt::format("undefined variable '{}' in the data that is looked up here", name));
    return found;
  }

  std::string module_directory(std::string_view module) override {
    const Module* m = compiler_.environment().module(module);
    return m != nullptr ? m->path : "";
  }

  Val call_backend(std::string_view function, std::span<const Val> args) override {
    return compiler_.call_function(Symbol(function), args, nullptr, *scope, at);
  }

  bool has_function(std::string_view name) override { return compiler_.function_exists(Symbol(name)); }
  bool strict_errors() const override { return compiler_.settings().strict == Settings::Strict::kError; }

  const Type* backend_returns(std::string_view function) override {
    const Definition* d = compiler_.environment().find_function(Symbol(function), compiler_.diagnostics());
    return d != nullptr && d->returns != nullptr ? compiler_.type_of_node(d->returns, compiler_.top()) : nullptr;
  }
  Val call_block(const Closure& block, std::span<const Val> args) override {
    return compiler_.call_closure(block, args, at);
  }
  std::size_t block_takes(const Closure& block) const override { return block.params(); }
  std::string_view environment_name() const override { return compiler_.settings().environment_name; }
  u64 longest_file() const override { return compiler_.session().budget.limits().input_bytes; }

  void looks(std::size_t within) override {
    constexpr u64 kSteps = 64;  // it takes as long as so many steps of a manifest
    constexpr std::size_t kDeepest = 5000;
    Budget& budget = compiler_.budget();
    budget.step(kSteps + within);
    if (within > budget.limits().depth || within > kDeepest)
      throw LimitError("LIMIT-DEPTH", fmt::format("more than {} look-ups within each other", within - 1));
  }

  void warn(std::string_view message) override { compiler_.warn(at, std::string(message), "PP-HIERA"); }

  // convert_to: a type, or a type and more arguments for its constructor.
  Val converted(std::string_view key, const Val& value, const Val& options, Story* story) {
    const Val* wanted = options.is(VK::kHash) ? options.get("convert_to") : nullptr;
    if (wanted == nullptr) return value;
    std::vector<Val> args = {value};
    Val name = *wanted;
    if (wanted->is(VK::kArray) && !wanted->items().empty()) {
      name = wanted->items()[0];
      args.insert(args.end(), wanted->items().begin() + 1, wanted->items().end());
    }
    try {
      const Type* type = type_of_text(compiler_.arena(), to_text(name),
                                      [&](std::string_view n) { return compiler_.find_type_name(n, at); });
      Val made = compiler_.construct(type, args, at).with_origin(value.origin);
      args[0] = Val::type(type);
      if (story != nullptr)
        story->line(fmt::format("Applying convert_to lookup_option with arguments {}",
                                to_text(make_array(compiler_.arena(), args))));
      return made;
    } catch (const TypeError& e) {
      throw HieraError(fmt::format("convert_to: {}", e.what()), wanted->origin.pos());
    } catch (const EvalError& e) {
      throw HieraError(fmt::format("the convert_to lookup_option for key '{}' raised error: {}", key, e.what()),
                       wanted->origin.pos());
    }
  }

  // What goes wrong while data is looked up has the place that asked, and that of the data.
  template <class What>
  auto ask(std::string_view key, Scope& from, Pos place, What what) {
    // A backend may look up something itself: then this is within another call.
    struct Asked {
      Asked(Host& host, Scope* scope, Pos at)
          : host_(host), scope_(std::exchange(host.scope, scope)), at_(std::exchange(host.at, at)) {}
      Asked(const Asked&) = delete;
      Asked& operator=(const Asked&) = delete;
      ~Asked() {
        host_.scope = scope_;
        host_.at = at_;
      }
      Host& host_;
      Scope* scope_;
      Pos at_;
    } asked(*this, &from, place);
    try {
      return what();
    } catch (const HieraError& e) {
      EvalError error("PP-HIERA", at, fmt::format("lookup of '{}': {}", key, e.what()));
      if (e.where.begin)
        error.notes.push_back(fmt::format("the data is at {}", compiler_.environment().sources().show(e.where.begin)));
      throw error;
    }
  }

  DataLookup data;
  Scope* scope = nullptr;
  Pos at;

 private:
  Compiler& compiler_;
  std::set<std::string> missed_;  // told once each
};

Hiera::Hiera(Compiler& compiler) : compiler_(compiler), host_(std::make_unique<Host>(compiler)) {}
Hiera::~Hiera() = default;

std::optional<Val> Hiera::lookup(std::string_view key, const MergeSpec* merge, Scope& scope, Pos at, Story* story) {
  return host_->ask(key, scope, at, [&]() -> std::optional<Val> {
    std::optional<HieraFound> found = host_->data.lookup(*host_, key, merge, story);
    if (!found) return std::nullopt;
    Val value = host_->converted(key, found->value, host_->data.options_for(*host_, key), story);
    Origins& origins = compiler_.session().origins;
    return value.with_origin(origins.add(How::kLookup, value.origin.pos(), value.origin, {}, Symbol(found->level)));
  });
}

Val Hiera::context(i64 number) const { return host_->data.context(number); }

void Hiera::tell_options(std::string_view key, Scope& scope, Story& story) {
  host_->ask(key, scope, {}, [&] { host_->data.tell_options(*host_, key, story); });
}

std::optional<Val> Hiera::class_parameter(std::string_view key, Scope& scope, Pos at) {
  return lookup(key, nullptr, scope, at);
}

}  // namespace tutti::puppet
