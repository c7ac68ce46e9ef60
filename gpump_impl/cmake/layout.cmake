# The layout number of each room: eight hexadecimal digits made from the structs and unions of its public headers, of the constants in
# their array lengths, and of the numbers of the rooms that it needs. Functions, comments and spaces do not count, nor what a
# host leaves out. Two files that were compiled with equal numbers agree on every struct of the room.
#   gpump_layout_numbers(FOLDER)  sets GPUMP_LAYOUT_<room> for all rooms of FOLDER (gpump_impl)
#   gpump_layout_text(variable)   sets `variable` to the text of base/layout.h
# components.cmake is included before.

# Sets `result` to the structs of a header's text: comments and spaces gone, one after the other.
function(gpump_layout_structs text result)
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX REPLACE "\"[^\"\n]*\"" "" text "${text}") # units and descriptions of counters
  string(REPLACE ";" "," text "${text}") # a semicolon would divide a CMake list
  string(REPLACE "[" "<" text "${text}") # and a bracket would join two of its entries
  string(REPLACE "]" ">" text "${text}")
  string(REPLACE "\\\n" " " text "${text}")
  string(REGEX MATCHALL "typedef (struct|union) [a-z_0-9]* {[^{}]*({[^{}]*}[^{}]*)*} [a-z_0-9]*,|#define GPUMPI?_[A-Z_0-9]+\\(X\\)[^\n]*" found "${text}")
  string(REGEX MATCHALL "<[^>]*>" lengths "${found}")
  string(REGEX MATCHALL "GPUMPI?_[A-Z_0-9]+" constants "${lengths}")
  list(REMOVE_DUPLICATES constants)
  foreach(constant IN LISTS constants)
    string(REGEX MATCHALL "(#define ${constant} [^\n]*|\n *${constant}( =[^,\n]*)?,)" value "${text}")
    list(APPEND found "${value}")
  endforeach()
  string(REGEX REPLACE "[ \n\t]+" " " found "${found}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

function(gpump_layout_numbers folder)
  foreach(room IN LISTS GPUMP_ROOMS)
    set(structs)
    foreach(component IN LISTS GPUMP_ROOM_${room})
      if(EXISTS "${folder}/${room}/${component}.h")
        file(READ "${folder}/${room}/${component}.h" text)
        gpump_layout_structs("${text}" found)
        string(APPEND structs "${found}")
      endif()
    endforeach()
    if(NOT room STREQUAL base)
      string(APPEND structs " base ${GPUMP_LAYOUT_base}")
    endif()
    foreach(needed IN LISTS GPUMP_NEEDS_${room})
      string(APPEND structs " ${needed} ${GPUMP_LAYOUT_${needed}}")
    endforeach()
    string(SHA256 number "${structs}")
    string(SUBSTRING "${number}" 0 8 number)
    set(GPUMP_LAYOUT_${room} ${number})
    set(GPUMP_LAYOUT_${room} ${number} PARENT_SCOPE)
  endforeach()
endfunction()

function(gpump_layout_text result)
  set(text "/* The layout number of each room, written by generate.cmake from the structs of the room's headers
 * (gpump_impl/cmake/layout.cmake). They differ as soon as a struct of the room differs. */
/* clang-format off */
#ifndef GPUMP_LAYOUT_H
#define GPUMP_LAYOUT_H

")
  foreach(room IN LISTS GPUMP_ROOMS)
    string(TOUPPER ${room} upper)
    string(APPEND text "#define GPUMP_LAYOUT_${upper} 0x${GPUMP_LAYOUT_${room}}u\n")
  endforeach()
  string(APPEND text "\n/* X(reference, exported constant) for each room that this file compiles */\n")
  foreach(room IN LISTS GPUMP_ROOMS)
    string(TOUPPER ${room} upper)
    string(APPEND text "#ifdef GPUMP_NO_${upper}
#define GPUMPI_LAYOUT_OF_${upper}(X)
#else
#define GPUMPI_LAYOUT_OF_${upper}(X) X(gpumpi_layout_of_${room}, gpump_layout_${room}_${GPUMP_LAYOUT_${room}})
#endif\n")
    string(APPEND all " \\\n    GPUMPI_LAYOUT_OF_${upper}(X)")
  endforeach()
  string(APPEND text "#define GPUMPI_LAYOUTS(X)${all}\n")
  set(${result} "${text}/* clang-format on */\n\n#endif\n" PARENT_SCOPE)
endfunction()
