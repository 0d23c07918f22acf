// A kernel object is compiled for an instruction set that not every CPU has. Of every weak symbol the linker keeps one
// copy from any object: were it a kernel object's copy of std::max, generic code would run AVX-512 instructions and
// crash an older CPU. So the weak symbols of these objects must be their own: in a namespace that carries the
// instruction set's name.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) text += buffer.data();
  return text;
}

// The weak (V, W) and unique (u) definitions in what `nm -C` prints that another object could define too.
std::vector<std::string> leaks(const std::string& listing) {
  std::vector<std::string> out;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 20 || line[0] == ' ') continue;  // an undefined symbol has no address
    const char type = line[17];
    if (type != 'V' && type != 'W' && type != 'u') continue;
    const std::string name = line.substr(19);
    // The return type of a function template comes first; the symbol's own scope is the part before its '('.
    const std::string scope = name.substr(0, name.find('('));
    const auto within = [&scope](const char* name_space) { return scope.find(name_space) != std::string::npos; };
    if (!within("fovea::kernels::avx") && !within("fovea::kernels::amx") && !within("fovea::kernels::vnni") &&
        !within("hwy::N_AVX")) {
      out.push_back(name);
    }
  }
  return out;
}

TEST(KernelSymbols, NoHigherInstructionSetLeaksWeakSymbols) {
  std::ifstream objects(FOVEA_KERNEL_OBJECTS);
  int count = 0;
  for (std::string object; std::getline(objects, object);) {
    if (object.empty() || object.ends_with(".gch")) continue;  // a precompiled header is no object
    const std::string listing = output_of(std::string(FOVEA_NM) + " -C '" + object + "'");
    EXPECT_FALSE(listing.empty()) << object;
    EXPECT_THAT(leaks(listing), IsEmpty()) << object;
    ++count;
  }
#if defined(__x86_64__)
  EXPECT_GE(count, 2);
#endif
}

TEST(KernelSymbols, ALeakWouldBeSeen) {
  EXPECT_THAT(leaks("0000000000000000 W float const& std::max<float>(float const&, float const&)\n"
                    "0000000000000010 u std::once\n"
                    "0000000000000020 W fovea::kernels::helper(float)\n"
                    "0000000000000030 W fovea::kernels::avx2::helper(float)\n"
                    "0000000000000040 W void hwy::N_AVX3::Store<int>(int)\n"
                    "0000000000000050 t std::local()\n"
                    "                 U std::undefined()\n"),
              ElementsAre("float const& std::max<float>(float const&, float const&)", "std::once",
                          "fovea::kernels::helper(float)"));
}

}  // namespace
}  // namespace fovea
