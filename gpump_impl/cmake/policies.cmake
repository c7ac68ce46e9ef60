# Policies of one's own, built into minigpu, tbsim and bench/micro:
#   cmake -S . -B build -DGPUMP_POLICY="/path/to/mine.c;/path/to/another.c"
# A policy file is C that defines one or more constants at the start of a line:
#   const gpump_victim_policy NAME = {
# or gpump_scheduler_policy or gpump_partition_policy.
set(GPUMP_POLICY_KINDS victim scheduler partition)

# Sets PREFIX_victim, PREFIX_scheduler and PREFIX_partition to the names of the policies that FILES define. A file without a policy is an error.
function(gpump_find_policies files prefix)
  set(names)
  foreach(kind IN LISTS GPUMP_POLICY_KINDS)
    set(found_${kind})
  endforeach()
  foreach(file IN LISTS files)
    if(NOT EXISTS "${file}" OR IS_DIRECTORY "${file}")
      message(FATAL_ERROR "GPUMP_POLICY names \"${file}\", which is no file; give the absolute path of a policy file")
    endif()
    set(here)
    foreach(kind IN LISTS GPUMP_POLICY_KINDS)
      file(STRINGS "${file}" lines REGEX "^const gpump_${kind}_policy [A-Za-z_][A-Za-z0-9_]* *=")
      foreach(line IN LISTS lines)
        string(REGEX REPLACE "^const gpump_${kind}_policy ([A-Za-z0-9_]+).*" "\\1" name "${line}")
        list(APPEND found_${kind} ${name})
        list(APPEND here ${name})
        list(APPEND names ${name})
      endforeach()
    endforeach()
    if(NOT here)
      message(FATAL_ERROR "GPUMP_POLICY: ${file} defines no policy; a line of it must begin with "
        "\"const gpump_victim_policy NAME =\", \"const gpump_scheduler_policy NAME =\" or "
        "\"const gpump_partition_policy NAME =\", without static")
    endif()
  endforeach()
  list(LENGTH names all)
  list(REMOVE_DUPLICATES names)
  list(LENGTH names unique)
  if(NOT all EQUAL unique)
    message(FATAL_ERROR "GPUMP_POLICY: two policies have the same C name: ${names}")
  endif()
  foreach(kind IN LISTS GPUMP_POLICY_KINDS)
    set(${prefix}_${kind} ${found_${kind}} PARENT_SCOPE)
  endforeach()
endfunction()

# The library gpump_policies: the built-in policies and those of FILES, by name (examples/policies/policies.h).
function(gpump_add_policies folder files)
  gpump_find_policies("${files}" own)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files}) # a policy that is renamed is found again
  set(declarations)
  foreach(kind IN LISTS GPUMP_POLICY_KINDS)
    set(${kind}_entries)
    foreach(name IN LISTS own_${kind})
      string(APPEND declarations "extern const gpump_${kind}_policy ${name};\n")
      string(APPEND ${kind}_entries "    &${name},\n")
    endforeach()
  endforeach()
  configure_file(${folder}/own_policies.c.in ${PROJECT_BINARY_DIR}/own_policies.c @ONLY)
  add_library(gpump_policies STATIC ${folder}/policies.c ${PROJECT_BINARY_DIR}/own_policies.c ${files})
  target_include_directories(gpump_policies PUBLIC ${folder})
  target_compile_definitions(gpump_policies PRIVATE GPUMP_IS_LINKED)
  target_compile_features(gpump_policies PUBLIC c_std_99)
  target_link_libraries(gpump_policies PUBLIC gpump)
endfunction()
