#pragma once

#include <string_view>

namespace tutti {

// A shared library that is loaded when it is first wanted: loading what few calls need would take longer than most
// small runs do. Throws LimitError with `code` where it is not there; `purpose` says what cannot be done then.
class Library {
 public:
  Library(const char* file, std::string_view code, std::string_view purpose);

  void* find(const char* name) const;
  template <class T>
  void find(const char* name, T*& out) const {
    out = reinterpret_cast<T*>(find(name));
  }

 private:
  void* handle_;
  const char* file_;
  std::string_view code_;
};

}  // namespace tutti
