// Which names a shared library exports.
#pragma once

/// In front of the name of a namespace: what its body declares is visible outside of a shared library. Shared libraries
/// are compiled with hidden visibility, so that sources that are not public stay inside.
#if defined(__GNUC__)
#define FOVEA_API [[gnu::visibility("default")]]
#else
#define FOVEA_API
#endif
