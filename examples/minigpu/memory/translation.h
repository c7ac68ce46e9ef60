/* translation: what the page table says of an address: it may be accessed, its page is absent, or it is nobody's. */
#ifndef MINIGPU_TRANSLATION_H
#define MINIGPU_TRANSLATION_H

#include "machine/state.h"

typedef enum translation { TRANSLATION_HIT, TRANSLATION_PENDING, TRANSLATION_ABSENT, TRANSLATION_FAULT } translation;

/* Looks an address up for reading or writing. */
translation translate(const machine *m, uint64_t address, int write);

#endif
