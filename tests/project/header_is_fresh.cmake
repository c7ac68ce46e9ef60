# Fails, with the command to run, when gpump.h is not what gpump_impl/ generates.
execute_process(COMMAND ${CMAKE_COMMAND} -DOUTPUT=${FRESH} -P ${IMPL}/generate.cmake RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "gpump_impl/generate.cmake failed")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${FRESH} ${HEADER} RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "gpump.h is stale; run: cmake -P gpump_impl/generate.cmake")
endif()
