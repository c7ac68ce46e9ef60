# Writes OUT, the table of all kernel folders, from NAMES, GENERATORS and CHECKS (each joined by commas).
string(REPLACE "," ";" NAMES "${NAMES}")
string(REPLACE "," ";" GENERATORS "${GENERATORS}")
string(REPLACE "," ";" CHECKS "${CHECKS}")
set(declarations "")
set(rows "")
foreach(name IN LISTS NAMES)
  string(APPEND declarations "const char *reference_${name}(const reference_launch *launch);\n")
  set(generator NULL)
  if("${name}" IN_LIST GENERATORS)
    string(APPEND declarations "const char *generate_${name}(const reference_launch *launch, uint64_t seed);\n")
    set(generator generate_${name})
  endif()
  set(check NULL)
  if("${name}" IN_LIST CHECKS)
    string(APPEND declarations "const char *check_${name}(const reference_launch *is, const reference_launch *expected);\n")
    set(check check_${name})
  endif()
  string(APPEND rows "    {\"${name}\", reference_${name}, ${generator}, ${check}},\n")
endforeach()
set(text "/* Written by the build from the folders beside reference.h. */
#include \"reference.h\"

${declarations}
const reference_entry reference_entries[] = {
${rows}    {NULL, NULL, NULL, NULL},
};

const reference_entry *reference_find(const char *name) {
    const reference_entry *entry = reference_entries;
    while (entry->name != NULL && strcmp(entry->name, name) != 0) entry++;
    return entry->name != NULL ? entry : NULL;
}
")
set(old "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUT}" "${text}")
endif()
