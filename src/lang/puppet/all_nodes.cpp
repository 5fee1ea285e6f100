#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <thread>

#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/request.h"

namespace tutti::puppet {
namespace {

constexpr std::size_t kStack = std::size_t{256} << 20;  // taken from the system only as far as it is used

// The tree with places for origins: what leads from a place to a value is in the tables of the session that made it.
Value with_places(const Session& session, Arena& arena, const Value& v) {
  TreeBuilder b(arena);
  Origin o = session.origins.written(v.origin());
  switch (v.kind()) {
    case Kind::kList: {
      std::vector<Value> items;
      items.reserve(v.size());
      for (const Value& i : v.items()) items.push_back(with_places(session, arena, i));
      return b.list(items, o);
    }
    case Kind::kMap: {
      std::vector<Entry> entries(v.entries().begin(), v.entries().end());
      for (Entry& e : entries) e.value = with_places(session, arena, e.value);
      return b.map(entries, o);
    }
    default: return v.with_origin(o);
  }
}

struct Job {
  std::string node, file;
  std::unique_ptr<Session> session;
  std::optional<Value> tree;
};

struct Shared {
  std::vector<Job> jobs;
  std::atomic<std::size_t> next{0};
  Environment* environment = nullptr;
  std::span<const Program* const> manifests;
};

void* work(void* p) {
  Shared& shared = *static_cast<Shared*>(p);
  for (;;) {
    std::size_t n = shared.next++;
    if (n >= shared.jobs.size()) return nullptr;
    Job& job = shared.jobs[n];
    try {
      auto facts = read_facts(*job.session, job.file);
      if (!facts) continue;
      auto tree = compile_node(*job.session, *shared.environment, shared.manifests, job.node, *facts);
      if (tree) job.tree = with_places(*job.session, job.session->arena, *tree);
    } catch (const std::exception& e) {
      job.session->diagnostics.error("PP-INTERNAL", {}, e.what());
    }
  }
}

}  // namespace

std::optional<Value> compile_node(Session& session, Environment& environment, std::span<const Program* const> manifests,
                                  const std::string& name, const Value& facts) {
  NodeInfo node;
  node.facts = from_tree(session.arena, facts);
  node.name = name;
  if (node.name.empty()) {
    const Val* fqdn = node.facts.get("fqdn");
    node.name = fqdn ? to_text(*fqdn) : "localhost";
  }
  Compiler compiler(environment, session, std::move(node));
  if (!compiler.compile(manifests)) return std::nullopt;
  return catalog_tree(compiler);
}

std::optional<Value> compile_all(Session& session, Environment& environment, std::span<const Program* const> manifests,
                                 const std::string& dir, unsigned threads) {
  Shared shared;
  shared.environment = &environment;
  shared.manifests = manifests;
  for (auto& [name, file] : facts_files(dir)) {
    Job job;
    job.node = name;
    job.file = file;
    job.session = std::make_unique<Session>(session.budget.limits(), session.sources);
    shared.jobs.push_back(std::move(job));
  }
  if (shared.jobs.empty()) {
    session.diagnostics.error("PP-FACTS", {}, fmt::format("{}: no facts (NAME.yaml or NAME.json) in this folder", dir));
    return std::nullopt;
  }
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min<unsigned>(threads, static_cast<unsigned>(shared.jobs.size()));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  std::vector<pthread_t> started;
  for (unsigned n = 0; n < threads; ++n) {
    pthread_t t;
    if (pthread_create(&t, &attributes, work, &shared) == 0) started.push_back(t);
  }
  pthread_attr_destroy(&attributes);
  if (started.empty()) work(&shared);
  for (pthread_t t : started) pthread_join(t, nullptr);

  // In the order of the nodes' names, whichever thread was first.
  bool good = true;
  std::vector<Entry> nodes;
  for (Job& job : shared.jobs) {
    for (const Diagnostic& d : job.session->diagnostics.all()) {
      Diagnostic& copy = session.diagnostics.add(d.severity, d.code, d.where, d.message);
      copy.notes = d.notes;
      copy.help = d.help;
      copy.note("on node " + job.node);
    }
    if (!job.tree) {
      good = false;
      continue;
    }
    Entry e;
    e.key = Symbol(job.node);
    e.value = *job.tree;
    nodes.push_back(e);
  }
  Value all = session.builder().map(nodes);
  auto kept = std::make_shared<std::vector<Job>>(std::move(shared.jobs));
  session.attach(all, kept);
  if (!good) return std::nullopt;
  return all.with_tag(Symbol("catalogs"));
}

}  // namespace tutti::puppet
