# Man pages, completions and the systemd unit beside what cmake/install.cmake installs; `cpack` in the build folder makes
# a Debian package of all of it.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
  set(documents ${PROJECT_BINARY_DIR}/documents)
  add_custom_command(OUTPUT ${documents}/_fovea
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/documents.py $<TARGET_FILE:fovea_binary> ${documents}
      ${PROJECT_VERSION}
    DEPENDS fovea_binary ${CMAKE_CURRENT_LIST_DIR}/documents.py VERBATIM)
  add_custom_target(fovea_documents ALL DEPENDS ${documents}/_fovea)
  install(DIRECTORY ${documents}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${documents}/fovea.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME fovea)
  install(FILES ${documents}/_fovea DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
else()
  add_custom_target(fovea_documents DEPENDS fovea_binary)  # there are none without Python
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fovea)
if(NOT CPACK_PACKAGE_CONTACT)  # who makes the package, with an address
  set(CPACK_PACKAGE_CONTACT "The Fovea authors <fovea@example.org>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "attention models on CPUs: train, run, look at, serve")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Fovea trains attention models on plain text, translates and classifies with
them, shows what each word attended to, and serves them over HTTP with
LibreTranslate's API. The package holds the command line fovea and the C++
libraries it is made of, for CMake (fovea::fovea, fovea::core) and pkg-config.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Who links the libraries needs these; who only runs fovea can leave them out with --no-install-recommends.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libsentencepiece-dev, libicu-dev, zlib1g-dev, libjpeg-dev, libpng-dev")
if(FOVEA_PYTHON)  # the module works with the Python it was compiled for; tensors come and go as NumPy arrays
  math(EXPR next_python "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next_python})")
  string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", python3-numpy")
endif()
# What belongs to Debian's package alone: unit, configuration, copyright, changelog.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
file(WRITE ${PROJECT_BINARY_DIR}/conffiles "/etc/default/fovea\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/conffiles)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
