# Cross-compiles for 64-bit ARM with Debian's g++-aarch64-linux-gnu; what is built runs under qemu-user. For the preset
# `arm`, which builds fovea::core and its tests: script/test-arm.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)  # of GoogleTest
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
# fovea::core needs only the headers of {fmt}, which are the same for every machine.
file(GLOB fmt_DIR /usr/lib/*/cmake/fmt)
