#pragma once

#include "lang/puppet/hiera/lookup.h"

namespace tutti::puppet {

struct HieraLevel {
  enum Backend : u8 { kYaml, kJson, kEyaml, kFunction } backend = kYaml;
  enum Shape : u8 { kDataHash, kLookupKey, kDataDig } shape = kDataHash;
  std::string function;
  std::string name;
  std::string datadir;  // relative to the hiera.yaml, not interpolated yet
  struct Location {
    enum What : u8 { kPath, kGlob, kMapped, kUri } what = kPath;
    std::string text;
    std::string variable, local;  // of mapped_paths
  };
  std::vector<Location> locations;
  Val options;
};

struct HieraLayer {
  std::string directory, config;
  std::string module;  // "" for the environment and the global layer
  bool of_environment = false;
  std::string warning;  // what is to be said of it; "": nothing
  std::vector<HieraLevel> hierarchy, default_hierarchy;
};

// Reads a hiera.yaml of version 5 or 4. Throws HieraError.
void read_layer(const Val& config, HieraLayer& layer);

}  // namespace tutti::puppet
