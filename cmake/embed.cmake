# cmake -DOUTPUT=assets.cpp -DFOLDER=web -P embed.cmake: the files of FOLDER as a C++ source that
# src/view/assets.hpp declares.
file(GLOB files ${FOLDER}/*.css ${FOLDER}/*.js ${FOLDER}/*.html ${FOLDER}/*.svg)
list(SORT files)
set(arrays "")
set(table "")
set(count 0)
foreach(file IN LISTS files)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  get_filename_component(name ${file} NAME)
  string(APPEND arrays "// ${name}\nconstexpr unsigned char kFile${count}[] = {\n${bytes}0};\n")
  string(APPEND table "    {\"${name}\", kFile${count}, sizeof(kFile${count}) - 1},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made from web/ by cmake/embed.cmake; do not edit.
#include \"view/assets.hpp\"

#include \"fovea/error.hpp\"

namespace fovea::view {
namespace {

${arrays}
struct File {
  std::string_view name;
  const unsigned char* bytes;
  std::size_t size;
};

constexpr File kFiles[] = {
${table}};

}  // namespace

std::string_view asset(std::string_view name) {
  for (const File& file : kFiles) {
    if (file.name == name) return {reinterpret_cast<const char*>(file.bytes), file.size};
  }
  throw Error(\"no file \" + std::string(name) + \" in web/\");
}

}  // namespace fovea::view
")
