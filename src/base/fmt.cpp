// {fmt}, compiled into the library where only its shared library is installed, as on Debian: so a program that links
// fovea::core needs no libfmt, neither to build nor to run. CMake says where that is (FOVEA_COMPILES_FMT).
// FMT_HEADER_ONLY would do the same in every file that formats, at 5 s of compiling each.
#ifdef FOVEA_COMPILES_FMT
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// The templates that format.h declares and leaves to the library.
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal<float>(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal<double>(double) noexcept;

}  // namespace detail
FMT_END_NAMESPACE
#endif
