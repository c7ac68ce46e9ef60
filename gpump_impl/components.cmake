# The rooms of gpump, and the components of each room, in floor order (docs/design.md): a component uses only components that stand
# before it. The generator and the build both read this list, and nothing else decides the order.
set(GPUMP_ROOMS base gpu memory fault program context sm victim scheduler)

set(GPUMP_ROOM_base base)
set(GPUMP_ROOM_gpu gpu block metrics)
set(GPUMP_ROOM_memory meter)
set(GPUMP_ROOM_fault tlb replay)
set(GPUMP_ROOM_program program graph liveness constants registers preempt_points clobbers regions preserve page_checks)
set(GPUMP_ROOM_context compress_plain compress_x86 compress context in_place spill)
set(GPUMP_ROOM_sm warp_gate read_set sm)
set(GPUMP_ROOM_victim cost victim_positions victim_greedy victim_exact victim_joint victim_policies victim)
set(GPUMP_ROOM_scheduler scheduler_tables scheduler scheduler_policies)

# The rooms that a room needs beside base, which every room needs.
set(GPUMP_NEEDS_gpu)
set(GPUMP_NEEDS_memory gpu)
set(GPUMP_NEEDS_fault gpu)
set(GPUMP_NEEDS_program)
set(GPUMP_NEEDS_context gpu)
set(GPUMP_NEEDS_sm gpu)
set(GPUMP_NEEDS_victim gpu)
set(GPUMP_NEEDS_scheduler gpu)

# A room has one private header at most: declarations that its components share and that users do not see.
set(GPUMP_PRIVATE_base array.h) # array_end.h, which puts the host's stb_ds settings back, ends the implementation
set(GPUMP_PRIVATE_context compress_parts.h)
set(GPUMP_PRIVATE_program program_parts.h)
set(GPUMP_PRIVATE_victim victim_parts.h)
set(GPUMP_PRIVATE_scheduler scheduler_parts.h)

# Sets GPUMP_SELECTED to `wanted` (rooms, or nothing for all) and the rooms that these need, in floor order.
function(gpump_select_rooms wanted)
  if(NOT wanted)
    set(wanted ${GPUMP_ROOMS})
  endif()
  set(unknown ${wanted})
  list(REMOVE_ITEM unknown ${GPUMP_ROOMS})
  if(unknown)
    list(JOIN GPUMP_ROOMS " " rooms)
    message(FATAL_ERROR "there is no room \"${unknown}\"; the rooms are: ${rooms}")
  endif()
  set(needed base)
  foreach(room IN LISTS wanted)
    list(APPEND needed ${room} ${GPUMP_NEEDS_${room}})
  endforeach()
  set(selected)
  foreach(room IN LISTS GPUMP_ROOMS)
    if(room IN_LIST needed)
      list(APPEND selected ${room})
    endif()
  endforeach()
  set(GPUMP_SELECTED ${selected} PARENT_SCOPE)
endfunction()
