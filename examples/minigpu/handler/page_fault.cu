/* page_fault: the page-fault handler of an SM (Tanasic 6.4.2), for `minigpu run --handler`. It runs in system mode, in
 * one thread, for one granule of 64 KB. A page that the CPU has is left to the CPU. A page without memory becomes the
 * GPU's, gets a frame from the list, and is entered in the page table. When the list is empty, the page is given back,
 * and the CPU allocates it. */

enum { OWNER_CPU, OWNER_NONE, OWNER_GPU }; /* as gpump_fault_owner has them */

/* An entry of the page table; there is one for each granule of device memory. */
struct page_entry {
    unsigned owner;
    unsigned frame; /* with OWNER_GPU */
};

/* The physical allocator: frames that are free, the last of them first. */
struct frame_list {
    int count;
    unsigned frames[1]; /* `count` of them */
};

extern "C" __global__ void page_fault(struct page_entry *table, struct frame_list *list, unsigned granule) {
    struct page_entry *entry = table + granule;
    int left;
    if (atomicCAS(&entry->owner, OWNER_NONE, OWNER_GPU) != OWNER_NONE) return; /* the CPU migrates it */
    left = atomicSub(&list->count, 1);
    if (left > 0) {
        entry->frame = list->frames[left - 1];
        __threadfence();
        return;
    }
    atomicAdd(&list->count, 1);
    atomicExch(&entry->owner, OWNER_NONE); /* the CPU allocates it */
}
