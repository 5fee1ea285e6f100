#include "base/limit_place.h"

namespace tutti {
namespace {

thread_local const u32* place = nullptr;

}  // namespace

LimitPlace::LimitPlace(const u32& at) : before_(place) { place = &at; }
LimitPlace::~LimitPlace() { place = before_; }

u32 limit_place() { return place ? *place : 0; }

}  // namespace tutti
