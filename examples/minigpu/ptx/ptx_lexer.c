/* ptx_lexer: see ptx_lexer.h. A lexer is a plain value: a copy of a lexer keeps a position in the text. */
#include "ptx/ptx_lexer.h"
#include <stdlib.h>
#include <string.h>

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static int is_name_start(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
static int is_name_part(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

void ptx_lexer_start(ptx_lexer *lexer, const char *text, size_t length) {
    lexer->at = text;
    lexer->end = text + length;
    lexer->line = 1;
    lexer->column = 1;
}

static void advance(ptx_lexer *lexer) {
    if (*lexer->at == '\n') {
        lexer->line++;
        lexer->column = 1;
    } else
        lexer->column++;
    lexer->at++;
}

/* Skips blanks, both kinds of comment, and lines that start with # (a preprocessor's). Returns 0 in an unterminated
 * comment. */
static int skip_blanks(ptx_lexer *lexer) {
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
            advance(lexer);
        } else if ((c == '/' && lexer->end - lexer->at > 1 && lexer->at[1] == '/') ||
                   (c == '#' && lexer->column == 1)) {
            while (lexer->at < lexer->end && *lexer->at != '\n') advance(lexer);
        } else if (c == '/' && lexer->end - lexer->at > 1 && lexer->at[1] == '*') {
            ptx_lexer start = *lexer;
            advance(lexer);
            advance(lexer);
            for (;;) {
                if (lexer->end - lexer->at < 2) {
                    *lexer = start;
                    return 0;
                }
                if (lexer->at[0] == '*' && lexer->at[1] == '/') break;
                advance(lexer);
            }
            advance(lexer);
            advance(lexer);
        } else
            break;
    }
    return 1;
}

/* 0x, 0b, octal and decimal integers with an optional U; 0f and 0d bit patterns; decimal floating point. */
static void read_number(ptx_lexer *lexer, ptx_token *token) {
    const char *start = lexer->at, *end = lexer->end, *at = start;
    uint64_t value = 0, base = 10;
    uint32_t digits = 0;
    int overflow = 0;
    token->kind = TOKEN_INTEGER;
    if (end - at > 1 && at[0] == '0' && (at[1] == 'f' || at[1] == 'F' || at[1] == 'd' || at[1] == 'D')) {
        uint32_t wanted = at[1] == 'f' || at[1] == 'F' ? 8 : 16;
        at += 2;
        while (at < end && digit_value(*at) < 16) {
            value = value << 4 | (uint64_t)digit_value(*at++);
            digits++;
        }
        token->kind = digits != wanted ? TOKEN_BAD : wanted == 8 ? TOKEN_FLOAT32 : TOKEN_FLOAT64;
    } else {
        if (end - at > 1 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
            base = 16, at += 2;
        else if (end - at > 1 && at[0] == '0' && (at[1] == 'b' || at[1] == 'B'))
            base = 2, at += 2;
        else if (end - at > 1 && at[0] == '0' && is_digit(at[1]))
            base = 8, at += 1;
        const char *mark = at;
        while (at < end && (uint64_t)digit_value(*at) < base) {
            uint64_t digit = (uint64_t)digit_value(*at++);
            if (value > (UINT64_MAX - digit) / base) overflow = 1;
            value = value * base + digit;
            digits++;
        }
        if (base == 10 || base == 8) {
            const char *probe = base == 8 ? mark : at;
            while (base == 8 && probe < end && is_digit(*probe)) probe++;
            if (probe < end && (*probe == '.' || *probe == 'e' || *probe == 'E')) {
                char text[64];
                size_t length = 0;
                char *stop;
                at = start;
                while (at < end && length + 1 < sizeof text &&
                       (is_digit(*at) || *at == '.' || *at == 'e' || *at == 'E' ||
                        ((*at == '+' || *at == '-') && at > start && (at[-1] == 'e' || at[-1] == 'E'))))
                    text[length++] = *at++;
                text[length] = 0;
                double number = strtod(text, &stop);
                memcpy(&value, &number, sizeof value);
                token->kind = *stop ? TOKEN_BAD : TOKEN_FLOAT64;
                digits = 1;
                overflow = 0;
            }
        }
        if (token->kind == TOKEN_INTEGER && at < end && (*at == 'U' || *at == 'u')) at++;
        if (digits == 0 || overflow) token->kind = TOKEN_BAD;
    }
    if (at < end && is_name_part(*at)) {
        token->kind = TOKEN_BAD;
        while (at < end && is_name_part(*at)) at++;
    }
    token->value = value;
    while (lexer->at < at) advance(lexer);
}

void ptx_lexer_next(ptx_lexer *lexer, ptx_token *token) {
    int closed = skip_blanks(lexer);
    token->line = lexer->line;
    token->column = lexer->column;
    token->start = lexer->at;
    token->value = 0;
    if (!closed) {
        lexer->at = lexer->end;
        token->kind = TOKEN_BAD;
    } else if (lexer->at >= lexer->end) {
        token->kind = TOKEN_END;
    } else {
        char c = *lexer->at, next = lexer->end - lexer->at > 1 ? lexer->at[1] : 0;
        if (is_name_start(c)) {
            token->kind = TOKEN_NAME;
            advance(lexer);
            while (lexer->at < lexer->end && is_name_part(*lexer->at)) advance(lexer);
        } else if (is_digit(c)) {
            read_number(lexer, token);
        } else if (c == '.' && is_name_part(next)) {
            token->kind = TOKEN_DOT;
            advance(lexer);
            for (;;) {
                while (lexer->at < lexer->end && is_name_part(*lexer->at)) advance(lexer);
                if (lexer->end - lexer->at < 3 || lexer->at[0] != ':' || lexer->at[1] != ':' ||
                    !is_name_part(lexer->at[2]))
                    break;
                advance(lexer);
                advance(lexer);
            }
        } else if (c == '"') {
            token->kind = TOKEN_STRING;
            advance(lexer);
            while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') {
                if (*lexer->at == '\\' && lexer->end - lexer->at > 1 && lexer->at[1] != '\n') advance(lexer);
                advance(lexer);
            }
            if (lexer->at < lexer->end && *lexer->at == '"')
                advance(lexer);
            else
                token->kind = TOKEN_BAD;
        } else {
            token->kind =
                c > ' ' && c < 127 && c != '\'' && c != '`' && c != '\\' && c != '"' ? TOKEN_PUNCTUATION : TOKEN_BAD;
            token->value = (unsigned char)c;
            advance(lexer);
        }
    }
    token->length = (uint32_t)(lexer->at - token->start);
}

int ptx_token_is(const ptx_token *token, const char *text) {
    size_t length = strlen(text);
    return token->length == length && memcmp(token->start, text, length) == 0;
}
