# CPack runs this, with DESTDIR set, when everything is installed there and before it makes the package of it.
set(read OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
set(here ${CMAKE_CURRENT_LIST_DIR})
file(INSTALL ${here}/fovea.service DESTINATION /lib/systemd/system PERMISSIONS ${read})
file(INSTALL ${here}/fovea.default DESTINATION /etc/default RENAME fovea PERMISSIONS ${read})
file(INSTALL ${here}/copyright DESTINATION /usr/share/doc/fovea PERMISSIONS ${read})
set(documents ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/fovea)
execute_process(COMMAND gzip -9nc ${here}/../CHANGELOG.md OUTPUT_FILE ${documents}/changelog.gz
  COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LC_ALL} C)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${documents}/changelog.Debian
  "fovea (${CPACK_PACKAGE_VERSION}-1) unstable; urgency=medium\n\n  * What is new stands in changelog.gz.\n\n"
  " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
execute_process(COMMAND gzip -9n ${documents}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
