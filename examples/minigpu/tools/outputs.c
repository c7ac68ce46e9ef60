#include "tools/outputs.h"

#include "output.h"

int outputs_spare(const launch_file *launch, const char *const *outputs, uint32_t count) {
    uint32_t i, k;
    for (i = 0; i < count; i++) {
        if (launch && output_is_input("minigpu", outputs[i], launch->path)) return -1;
        for (k = 0; launch && k < launch->read_path_count; k++)
            if (output_is_input("minigpu", outputs[i], launch->read_paths[k])) return -1;
        for (k = 0; k < i; k++)
            if (output_is_output("minigpu", outputs[k], outputs[i])) return -1;
    }
    return 0;
}
