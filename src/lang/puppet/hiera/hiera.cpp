#include "lang/puppet/hiera/hiera.h"

namespace tutti::puppet {

struct Hiera::State {};

Hiera::Hiera(Compiler& compiler) : compiler_(compiler), state_(std::make_unique<State>()) {}
Hiera::~Hiera() = default;

std::optional<Val> Hiera::class_parameter(std::string_view, Scope&, Pos) {
  (void)compiler_;
  return std::nullopt;
}

}  // namespace tutti::puppet
