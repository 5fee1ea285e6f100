// tutti sign: detached signatures beside files, for those who demand them with --require-signature (base/minisign.h).
#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "base/file.h"
#include "base/minisign.h"
#include "cli/verb.h"

namespace tutti {
namespace {

constexpr OptionSpec kSignOptions[] = {
    {"key", "FILE", "the secret key, as `minisign -G` makes it"},
    {"passphrase-file", "FILE", "what opens the key, in the first line; by default it is asked for at the terminal"},
};

// Asked at the terminal itself, which does not show it, whatever the standard streams are.
Result<std::string> ask_passphrase(const std::string& key) {
  int tty = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (tty < 0) return failure(fmt::format("{} is protected by a passphrase, and there is no terminal to ask at", key));
  termios shown{}, quiet{};
  ::tcgetattr(tty, &shown);
  quiet = shown;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  ::tcsetattr(tty, TCSAFLUSH, &quiet);
  std::string question = fmt::format("Passphrase for {}: ", key), word;
  (void)!::write(tty, question.data(), question.size());
  word.reserve(1024);  // so that no copy stays behind while it grows
  for (char c; word.size() < 1024 && ::read(tty, &c, 1) == 1 && c != '\n';) word += c;
  ::tcsetattr(tty, TCSAFLUSH, &shown);
  (void)!::write(tty, "\n", 1);
  ::close(tty);
  return word;
}

Result<std::string> passphrase_in(const std::string& file) {
  Result<std::string> text = read_own_file(file, 4096);
  if (text) text->resize(std::min(text->find_first_of("\r\n"), text->size()));
  return text;
}

int cannot_sign(Call& call, std::string what) {
  Diagnostic& d = call.session.diagnostics.error("SIGN", {}, std::move(what));
  if (!call.options.has("passphrase-file")) d.suggest("--passphrase-file FILE where nobody can be asked");
  return exit_code::kError;
}

int run_sign(Call& call) {
  std::string file = call.options.get("key");
  if (file.empty()) {
    call.session.diagnostics.error("USE", {}, "there is no key to sign with")
        .suggest("--key FILE; `minisign -G -p PUBLIC -s SECRET` makes a pair");
    return exit_code::kError;
  }
  Result<std::string> text = read_own_file(file, 4096);
  if (!text) return cannot_sign(call, text.error().message);
  std::string word = call.options.get("passphrase-file");
  Result<SigningKey> key =
      SigningKey::open(*text, [&] { return word.empty() ? ask_passphrase(file) : passphrase_in(word); });
  if (!key) return cannot_sign(call, fmt::format("{}: {}", file, key.error().message));
  auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  for (const std::string& path : call.arguments) {
    Result<std::string> bytes = read_file(path, call.session.budget.limits().input_bytes);
    if (!bytes) return cannot_sign(call, bytes.error().message);
    std::string comment =
        fmt::format("timestamp:{}\tfile:{}\thashed", now.count(), std::filesystem::path(path).filename().string());
    std::string beside = path + std::string(kSignatureEnding);
    if (auto written = write_file_atomically(beside, key->sign(*bytes, comment)); !written)
      return cannot_sign(call, written.error().message);
    call.out.put(fmt::format("Signed: {} (key {})\n", path, key->id()));
  }
  return exit_code::kOk;
}

}  // namespace

extern const Verb sign_verb = {
    .name = "sign",
    .group = "Configuration",
    .summary = "sign files, so that others can demand it",
    .arguments = "FILE...",
    .details =
        "FILE.minisig beside each file is its signature, in the format of minisign, which makes the keys "
        "(`minisign -G`) and checks and makes the same signatures. A saved plan is signed as any other file.\n"
        "Who reads the files demands it with --require-signature PUBLIC-KEY.",
    .examples =
        "$ minisign -G -p team.pub -s ~/team.key\n$ tutti sign site.cue data.yaml --key ~/team.key\n"
        "$ tutti plan site.cue data.yaml --require-signature team.pub",
    .options = kSignOptions,
    .run = run_sign,
    .least = 1,
};

}  // namespace tutti
