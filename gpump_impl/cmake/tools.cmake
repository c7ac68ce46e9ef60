# gpump_install_tool(NAME "WHAT IT IS" COMMAND...): installs a program that is built, with a manual page made from its --help and from
# that of each COMMAND, and completion for bash and zsh. What the programs read (kernels, tables) goes to share/gpump, where examples/installed.h looks for it.
function(gpump_install_tool name what)
  target_compile_definitions(${name} PRIVATE GPUMP_SHARE="${gpump_share}")
  if(NOT GPUMP_INSTALL OR NOT GPUMP_INSTALL_TOOLS)
    return()
  endif()
  install(TARGETS ${name} DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
  if(CMAKE_CROSSCOMPILING OR NOT UNIX)
    return() # the program does not run here
  endif()
  set(page ${CMAKE_CURRENT_BINARY_DIR}/${name}.1)
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM COMMAND sh ${PROJECT_SOURCE_DIR}/gpump_impl/cmake/man_page.sh $<TARGET_FILE:${name}>
    ${name} ${PROJECT_VERSION} ${what} ${ARGN} > ${page})
  foreach(shell bash zsh)
    add_custom_command(TARGET ${name} POST_BUILD VERBATIM
      COMMAND $<TARGET_FILE:${name}> --completion ${shell} > ${CMAKE_CURRENT_BINARY_DIR}/${name}.${shell})
  endforeach()
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.bash RENAME ${name}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.zsh RENAME _${name}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
endfunction()
