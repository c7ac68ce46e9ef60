/* helper_string: options of a command line, as CUDA's samples read them: -name, --name, -name=value. */
#ifndef MINIGPU_HELPER_STRING_H
#define MINIGPU_HELPER_STRING_H

#include <cstdlib>
#include <cstring>
#include <strings.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

/* Returns what follows the name: "" for a flag, the value behind '='; NULL: the option is not there. */
static inline const char *minigpu_option(int argc, const char **argv, const char *name) {
    const size_t length = strlen(name);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i] + strspn(argv[i], "-");
        if (word == argv[i] || strncasecmp(word, name, length) != 0) continue;
        if (!word[length]) return "";
        if (word[length] == '=') return word + length + 1;
    }
    return NULL;
}
static inline bool checkCmdLineFlag(int argc, const char **argv, const char *name) {
    return minigpu_option(argc, argv, name) != NULL;
}
static inline int getCmdLineArgumentInt(int argc, const char **argv, const char *name) {
    const char *value = minigpu_option(argc, argv, name);
    return value ? atoi(value) : 0;
}
static inline float getCmdLineArgumentFloat(int argc, const char **argv, const char *name) {
    const char *value = minigpu_option(argc, argv, name);
    return value ? (float)atof(value) : 0.0f;
}
static inline bool getCmdLineArgumentString(int argc, const char **argv, const char *name, char **value) {
    const char *found = minigpu_option(argc, argv, name);
    *value = const_cast<char *>(found);
    return found != NULL;
}

#endif
