# cmake -DESBUILD=esbuild -DFOLDER=web -DWORK=folder -DOUTPUT=assets.cpp -P embed.cmake: bundles the modules of
# FOLDER/pages in WORK, one script and one style sheet per page, and writes them, the other files of the pages and the
# words that C++ needs as a C++ source of compressed bytes that src/view/packed_assets.hpp declares.
file(REMOVE_RECURSE ${WORK})
file(GLOB pages ${FOLDER}/pages/*.js)
execute_process(COMMAND ${ESBUILD} ${pages} --bundle --minify --charset=utf8 --format=iife --outdir=${WORK}
    --log-level=warning
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB plain ${FOLDER}/*.html ${FOLDER}/*.svg ${FOLDER}/words/*.json)
file(COPY ${plain} DESTINATION ${WORK})
file(GLOB files ${WORK}/*)
list(SORT files)
set(arrays "")
set(table "")
set(count 0)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  file(SIZE ${file} size)
  file(ARCHIVE_CREATE OUTPUT ${file}.gz PATHS ${file} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  file(READ ${file}.gz hex HEX)
  string(SUBSTRING "${hex}" 0 8 head)
  string(SUBSTRING "${hex}" 16 -1 rest)
  set(hex "${head}00000000${rest}")  # without the time, so that builds are reproducible
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n"
    bytes "${bytes}")
  string(APPEND arrays "// ${name}\nconstexpr unsigned char kFile${count}[] = {\n${bytes}};\n")
  string(APPEND table "    {\"${name}\", kFile${count}, ${size}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made from web/ by cmake/embed.cmake; do not edit.
#include \"view/packed_assets.hpp\"

namespace fovea::view {
namespace {

${arrays}
constexpr PackedAsset kFiles[] = {
${table}};

}  // namespace

std::span<const PackedAsset> packed_assets() { return kFiles; }

}  // namespace fovea::view
")
