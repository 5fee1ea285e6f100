#pragma once

#include <sqlite3.h>

#include <cstring>
#include <functional>
#include <new>
#include <string>

#include "base/types.h"

// For tests: a layer below SQLite that sees every change of a disk and may refuse it. What flows in: each write, sync,
// truncation and deletion of any database that is opened while the layer exists; what flows out: a result code of
// SQLite, and anything but SQLITE_OK happens to the caller in place of the change. A layer of SQLite and not of the
// kernel, so that no test needs root, and so that a test can say which write it is that fails.
namespace tutti::deploy {

struct DiskEvent {
  enum class Kind : u8 { kWrite, kSync, kTruncate, kDelete };
  Kind kind = Kind::kWrite;
  std::string file;
  u64 offset = 0;  // of a write; the size of a truncation
  std::string bytes;
};

class DiskLayer {
 public:
  // Asked before a change, and after a sync. From any thread.
  using Hook = std::function<int(const DiskEvent&)>;
  explicit DiskLayer(Hook hook) {
    hook_ = std::move(hook);
    below_ = ::sqlite3_vfs_find(nullptr);
    vfs_ = *below_;
    vfs_.zName = "layer";
    vfs_.pNext = nullptr;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + below_->szOsFile;
    vfs_.xOpen = open;
    vfs_.xDelete = [](sqlite3_vfs*, const char* name, int sync) {
      int r = hook_({DiskEvent::Kind::kDelete, name, 0, ""});
      return r == SQLITE_OK ? below_->xDelete(below_, name, sync) : r;
    };
    ::sqlite3_vfs_register(&vfs_, 1);
  }
  ~DiskLayer() {
    ::sqlite3_vfs_register(below_, 1);
    ::sqlite3_vfs_unregister(&vfs_);
  }
  DiskLayer(const DiskLayer&) = delete;
  DiskLayer& operator=(const DiskLayer&) = delete;

 private:
  struct File {
    sqlite3_file base;
    sqlite3_file* real;
    char name[512];
  };
  static File* of(sqlite3_file* f) { return reinterpret_cast<File*>(f); }
  static sqlite3_file* real(sqlite3_file* f) { return of(f)->real; }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
    static const sqlite3_io_methods kMethods = methods();
    File* n = of(f);
    std::memset(n->name, 0, sizeof n->name);
    n->real = reinterpret_cast<sqlite3_file*>(n + 1);
    n->real->pMethods = nullptr;
    std::strncpy(n->name, name ? name : "", sizeof n->name - 1);
    int r = below_->xOpen(below_, name, n->real, flags, out);
    n->base.pMethods = r == SQLITE_OK ? &kMethods : nullptr;
    return r;
  }

  static sqlite3_io_methods methods() {
    sqlite3_io_methods m{};
    m.iVersion = 2;
    m.xClose = [](sqlite3_file* f) { return real(f)->pMethods ? real(f)->pMethods->xClose(real(f)) : SQLITE_OK; };
    m.xRead = [](sqlite3_file* f, void* p, int n, sqlite3_int64 o) {
      return real(f)->pMethods->xRead(real(f), p, n, o);
    };
    m.xWrite = [](sqlite3_file* f, const void* p, int n, sqlite3_int64 o) {
      int r = hook_({DiskEvent::Kind::kWrite, of(f)->name, static_cast<u64>(o),
                     std::string(static_cast<const char*>(p), static_cast<std::size_t>(n))});
      return r == SQLITE_OK ? real(f)->pMethods->xWrite(real(f), p, n, o) : r;
    };
    m.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
      int r = hook_({DiskEvent::Kind::kTruncate, of(f)->name, static_cast<u64>(size), ""});
      return r == SQLITE_OK ? real(f)->pMethods->xTruncate(real(f), size) : r;
    };
    m.xSync = [](sqlite3_file* f, int flags) {
      int r = real(f)->pMethods->xSync(real(f), flags);
      int said = hook_({DiskEvent::Kind::kSync, of(f)->name, 0, ""});
      return r == SQLITE_OK ? said : r;
    };
    m.xFileSize = [](sqlite3_file* f, sqlite3_int64* s) { return real(f)->pMethods->xFileSize(real(f), s); };
    m.xLock = [](sqlite3_file* f, int l) { return real(f)->pMethods->xLock(real(f), l); };
    m.xUnlock = [](sqlite3_file* f, int l) { return real(f)->pMethods->xUnlock(real(f), l); };
    m.xCheckReservedLock = [](sqlite3_file* f, int* r) { return real(f)->pMethods->xCheckReservedLock(real(f), r); };
    m.xFileControl = [](sqlite3_file* f, int op, void* p) { return real(f)->pMethods->xFileControl(real(f), op, p); };
    m.xSectorSize = [](sqlite3_file*) { return 512; };
    m.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };  // nothing is promised: no atomic, no ordered writes
    m.xShmMap = [](sqlite3_file* f, int p, int s, int e, void volatile** o) {
      return real(f)->pMethods->xShmMap(real(f), p, s, e, o);
    };
    m.xShmLock = [](sqlite3_file* f, int o, int n, int flags) {
      return real(f)->pMethods->xShmLock(real(f), o, n, flags);
    };
    m.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
    m.xShmUnmap = [](sqlite3_file* f, int d) { return real(f)->pMethods->xShmUnmap(real(f), d); };
    return m;
  }

  static inline sqlite3_vfs* below_ = nullptr;
  static inline sqlite3_vfs vfs_{};
  static inline Hook hook_;
};

}  // namespace tutti::deploy
