#include <stdlib.h>
#include "list.h"
#define LIMIT 10
#define MIN(a, b) \
    ((a) < (b) ? (a) : (b))

struct list {
    struct list *next;
    union {
        int number;
        char *text;
    } value;
};

typedef struct {
    int length;
} buffer_t;

typedef union {
    int a;
    float b;
} either_t;

typedef enum { OPEN, CLOSED } door_t;

enum colour {
    RED,
    GREEN,
};

union word {
    unsigned all;
    unsigned char bytes[4];
};

typedef int (*compare_fn)(const void *, const void *);

static int declared(int a);

static inline int add(int a, int b)
{
    return MIN(a, b);
}

struct list *list_new(void)
{
    return calloc(1, sizeof(struct list));
}

char **list_names(struct list *list, size_t *count) {
    return NULL;
}

int old_style(a, b)
    int a;
    char *b;
{
    return a;
}

#ifdef WIN32
void report(void) { puts("on this system"); }
#else
void report(void) { puts("on another system"); }
#endif

int main(int argc, char **argv)
{
    if (argc > LIMIT) {
        abort();
    }
    return 0;
}
