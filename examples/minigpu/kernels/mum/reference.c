/* mum(s32 matches[count][length][2], s32 nodes[][4], s32 children[][4], u8 text[letters + 1], u8 reads[count][length],
 * s32 count, s32 length): every place of the text is tried, the tree is not used. */
#include "reference.h"

const char *reference_mum(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 5), length = reference_i32(launch, 6);
    const uint64_t letters = reference_count(launch, 3, 1);
    if (launch->argument_count != 7 || count < 0 || length < 0 || letters < 1 || !reference_fits(launch, 1u << 20) ||
        launch->grid[1] != 1 || launch->grid[2] != 1 || launch->block[1] != 1 || launch->block[2] != 1 ||
        reference_threads(launch) < (uint64_t)count)
        return "mum takes s32 matches, nodes, children, u8 text, reads, s32 count, length, and a thread for each read";
    const uint64_t places = (uint64_t)count * (uint64_t)length;
    int32_t *matches = reference_i32s(launch, 0, 2 * places);
    const uint8_t *text = reference_u8s(launch, 3, letters), *reads = reference_u8s(launch, 4, places);
    if (!matches || !text || !reads || !reference_i32s(launch, 1, 8 * letters) ||
        !reference_i32s(launch, 2, 8 * letters))
        return "mum needs matches[count][length][2], reads[count][length], and nodes and children for the text";
    for (uint64_t place = 0; place < places; place++) {
        const uint64_t left = (uint64_t)length - place % (uint64_t)length;
        uint64_t longest = 0, first = 0;
        for (uint64_t at = 0; at + 1 < letters; at++) {
            uint64_t same = 0;
            while (same < left && at + same + 1 < letters && text[at + same] == reads[place + same]) same++;
            if (same > longest) longest = same, first = at;
        }
        matches[2 * place] = (int32_t)longest;
        matches[2 * place + 1] = (int32_t)first;
    }
    return NULL;
}
