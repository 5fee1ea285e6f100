#include "deploy/record/saved_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "deploy/record/encode.h"

namespace tutti::deploy {
namespace {

// The signature is the first thing after the mark, so that the rest can be taken as it is.
constexpr std::string_view kMark = R"({"tutti_plan":2,)", kSignature = R"("signature":")";

}  // namespace

bool is_saved_plan(std::string_view text) { return text.starts_with(R"({"tutti_plan":)"); }

std::string write_plan(const Prepared& p, const store::Seal& seal) {
  Arena arena;
  TreeBuilder b(arena);
  std::vector<Entry> root{{Symbol("tutti_plan"), Field::kPlain, Value::integer(2)},
                          {Symbol("system"), Field::kPlain, b.string(p.system)},
                          {Symbol("kind"), Field::kPlain, b.string(p.kind)},
                          {Symbol("serial"), Field::kPlain, Value::integer(p.serial)},
                          {Symbol("lineage"), Field::kPlain, b.string(p.lineage)},
                          {Symbol("digest"), Field::kPlain, b.string(p.digest)},
                          {Symbol("catalog"), Field::kPlain, Value::boolean(p.catalog)},
                          {Symbol("resources"), Field::kPlain, Value::integer(static_cast<i64>(p.resources))},
                          {Symbol("wanted"), Field::kPlain, p.wanted},
                          {Symbol("shown"), Field::kPlain, engine::write_changes(p.plan, b)},
                          {Symbol("flat"), Field::kPlain, p.plan.flat}};
  std::string body = encode(b.map(root), seal);
  while (body.ends_with('\n')) body.pop_back();
  return fmt::format("{}{}{}\",{}\n", kMark, kSignature, seal.sign(body), body.substr(kMark.size()));
}

std::optional<Prepared> read_plan(Session& session, const std::string& saved, const std::string& name,
                                  const store::Seal& seal) {
  auto broken = [&](std::string_view why) {
    session.diagnostics.error("PLAN-BROKEN", {}, fmt::format("{} {}", name, why)).suggest("make a new plan");
    return std::nullopt;
  };
  std::string_view rest = saved;
  if (!rest.starts_with(fmt::format("{}{}", kMark, kSignature))) return broken("is not a saved plan of this version");
  rest.remove_prefix(kMark.size() + kSignature.size());
  std::size_t end = std::min(rest.find("\","), rest.size());
  std::string body = fmt::format("{}{}", kMark, rest.substr(std::min(end + 2, rest.size())));
  while (body.ends_with('\n')) body.pop_back();
  if (seal.sign(body) != rest.substr(0, end)) return broken("was altered after it was made, or made with another key");
  auto v = decode(session, name, std::move(body), seal);
  if (!v) return std::nullopt;
  Prepared p;
  auto text = [&](std::string_view key) {
    const Entry* e = v->find(key);
    return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
  };
  p.system = text("system");
  p.kind = text("kind");
  p.lineage = text("lineage");
  if (const Entry* e = v->find("serial"); e && e->value.fits_i64()) p.serial = e->value.as_i64();
  if (const Entry* e = v->find("catalog")) p.catalog = e->value.is(Kind::kBool) && e->value.as_bool();
  if (const Entry* e = v->find("resources"); e && e->value.fits_i64())
    p.resources = static_cast<std::size_t>(e->value.as_i64());
  if (const Entry* e = v->find("wanted")) p.wanted = e->value;
  if (const Entry* e = v->find("flat")) p.plan.flat = e->value;
  if (const Entry* e = v->find("shown")) engine::read_changes(e->value, p.plan);
  return p;
}

}  // namespace tutti::deploy
