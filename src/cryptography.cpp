// The cryptographic library asks the processor what it can do when a program starts. Under a virtual machine each
// such question costs tens of microseconds, together a twentieth of a small run, and few calls of the program compute
// anything of the kind. The library asks again when it is first used, and that is soon enough.
extern "C" void __real_OPENSSL_cpuid_setup();

extern "C" void __wrap_OPENSSL_cpuid_setup() {
  static bool started = false;
  if (started) __real_OPENSSL_cpuid_setup();
  started = true;  // the first call is the one at the start, when there is no other thread
}
