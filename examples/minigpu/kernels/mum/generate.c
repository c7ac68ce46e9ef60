/* Inputs of mum: a text of random letters, a quarter of which repeats earlier parts of 16 letters; its suffix tree; and
 * reads taken from it, one letter of 16 of which is another. The tree is built suffix by suffix from the longest on, so
 * that the label of a node is where the text has its letters first. */
#include "reference.h"

enum { MUM_BEGIN, MUM_END, MUM_LINK, MUM_DEPTH };
#define MUM_LAST 4 /* the letter behind the text */

typedef struct mum_tree {
    int32_t (*nodes)[4], (*children)[4];
    const uint8_t *text;
    int32_t letters, used; /* letters without the last one */
} mum_tree;

static int32_t mum_add(mum_tree *tree, int32_t begin, int32_t end, int32_t depth) {
    tree->nodes[tree->used][MUM_BEGIN] = begin;
    tree->nodes[tree->used][MUM_END] = end;
    tree->nodes[tree->used][MUM_LINK] = 0;
    tree->nodes[tree->used][MUM_DEPTH] = depth;
    memset(tree->children[tree->used], 0, sizeof tree->children[0]);
    return tree->used++;
}

/* Adds the suffix from `first` on. Needs room for two nodes. */
static void mum_add_suffix(mum_tree *tree, int32_t first) {
    const uint8_t *text = tree->text;
    int32_t node = 0, at = first;
    while (text[at] != MUM_LAST) {
        int32_t *child = &tree->children[node][text[at]], *label = tree->nodes[*child], k = label[MUM_BEGIN];
        const int32_t depth = at - first;
        if (!*child) {
            *child = mum_add(tree, at, tree->letters + 1, tree->letters + 1 - first);
            return;
        }
        while (k < label[MUM_END] && text[k] == text[at]) k++, at++;
        if (k < label[MUM_END]) { /* the suffix leaves in the middle of a label */
            node = mum_add(tree, label[MUM_BEGIN], k, depth + k - label[MUM_BEGIN]);
            label[MUM_BEGIN] = k;
            tree->children[node][text[k]] = *child;
            *child = node;
        } else
            node = *child;
    }
}

/* The node for a node's letters but the first, which every node but a leaf has. */
static void mum_link(mum_tree *tree, int32_t node) {
    const int32_t depth = tree->nodes[node][MUM_DEPTH], first = tree->nodes[node][MUM_END] - depth + 1;
    int32_t link = 0;
    while (tree->nodes[link][MUM_DEPTH] < depth - 1)
        link = tree->children[link][tree->text[first + tree->nodes[link][MUM_DEPTH]]];
    tree->nodes[node][MUM_LINK] = link;
}

const char *generate_mum(const reference_launch *launch, uint64_t seed) {
    const int32_t count = reference_i32(launch, 5), length = reference_i32(launch, 6);
    const uint64_t size = reference_count(launch, 3, 1), places = (uint64_t)count * (uint64_t)length;
    uint8_t *text = reference_u8s(launch, 3, 1),
            *reads = count < 0 || length < 0 ? NULL : reference_u8s(launch, 4, places);
    uint64_t state = seed, i;
    mum_tree tree;
    if (size < 2 || size > 1000000) return "mum needs a text of 1 to 999,999 letters and one more";
    tree.letters = (int32_t)size - 1;
    tree.nodes = (int32_t(*)[4])reference_i32s(launch, 1, 8 * size);
    tree.children = (int32_t(*)[4])reference_i32s(launch, 2, 8 * size);
    tree.text = text;
    tree.used = 0;
    if (!text || !reads || !tree.nodes || !tree.children || size - 1 < (uint64_t)length)
        return "mum needs nodes[2 letters + 2][4], children[2 letters + 2][4], reads[count][length] no longer than the "
               "text";
    for (i = 0; i < size - 1; i++) text[i] = (uint8_t)reference_random_below(&state, 4);
    text[size - 1] = MUM_LAST;
    for (i = 64; i + 16 < size; i += 64) memcpy(text + i, text + reference_random_below(&state, (uint32_t)i - 16), 16);
    (void)mum_add(&tree, 0, 0, 0);
    for (i = 0; i + 1 < size; i++) mum_add_suffix(&tree, (int32_t)i);
    for (int32_t node = 1; node < tree.used; node++)
        if (tree.nodes[node][MUM_END] <= tree.letters) mum_link(&tree, node);
    for (uint64_t place = 0; place < places; place++) {
        if (place % (uint64_t)length == 0) i = reference_random_below(&state, (uint32_t)(size - (uint64_t)length));
        reads[place] = reference_random_below(&state, 16) ? text[i + place % (uint64_t)length]
                                                          : (uint8_t)reference_random_below(&state, 4);
    }
    return NULL;
}
