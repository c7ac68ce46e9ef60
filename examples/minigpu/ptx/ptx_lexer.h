/* ptx_lexer: divides PTX text into tokens. It knows nothing of the grammar. */
#ifndef MINIGPU_PTX_LEXER_H
#define MINIGPU_PTX_LEXER_H
#include <stddef.h>
#include <stdint.h>

typedef enum token_kind {
    TOKEN_END,
    TOKEN_BAD,     /* a character or literal that PTX does not have; `value` is unused */
    TOKEN_NAME,    /* identifier: opcode, register, label, variable; may start with % $ _ */
    TOKEN_DOT,     /* .word, with its dot: directive, modifier, type; "::" may join words */
    TOKEN_INTEGER, /* `value` */
    TOKEN_FLOAT32, /* 0f...: `value` holds the 32 bits */
    TOKEN_FLOAT64, /* 0d..., or decimal: `value` holds the bits of the double */
    TOKEN_STRING,
    TOKEN_PUNCTUATION /* one character, in `value` */
} token_kind;

typedef struct ptx_token {
    const char *start;
    uint32_t length;
    uint32_t line, column;
    token_kind kind;
    uint64_t value;
} ptx_token;

typedef struct ptx_lexer {
    const char *at, *end;
    uint32_t line, column;
} ptx_lexer;

void ptx_lexer_start(ptx_lexer *lexer, const char *text, size_t length);
void ptx_lexer_next(ptx_lexer *lexer, ptx_token *token);
/* Returns whether the token is spelled exactly as `text`. */
int ptx_token_is(const ptx_token *token, const char *text);
#endif
