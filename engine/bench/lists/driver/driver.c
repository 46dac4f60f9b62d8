// driver FILE ROUNDS: times CRoaring on the lists of FILE, each a number of docIDs and the
// docIDs, in words of 32 bits. A round repeats an operation until it takes about a millisecond. It prints a line for each operation: name, least time of a
// round in microseconds, number of docIDs, digest of the docIDs (0 for counts).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "roaring/roaring.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static void *room(size_t bytes) {
    void *p = malloc(bytes + 1);
    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

static roaring_bitmap_t **lists;
static size_t count;

static void load(const char *path) {
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        exit(1);
    }
    uint32_t n;
    while (fread(&n, 4, 1, f) == 1) {
        uint32_t *docs = room(4 * (size_t)n);
        if (fread(docs, 4, n, f) != n) {
            fprintf(stderr, "%s: list %zu ends early\n", path, count);
            exit(1);
        }
        lists = realloc(lists, (count + 1) * sizeof *lists);
        lists[count] = roaring_bitmap_of_ptr(n, docs);
        roaring_bitmap_run_optimize(lists[count]);
        roaring_bitmap_shrink_to_fit(lists[count]);
        count++;
        free(docs);
    }
    fclose(f);
}

static uint32_t *docs;
static size_t len, cap;

static uint64_t append(roaring_bitmap_t *b) {
    uint64_t n = roaring_bitmap_get_cardinality(b);
    if (len + n > cap) {
        cap = 2 * (len + n);
        docs = realloc(docs, 4 * cap);
    }
    roaring_bitmap_to_uint32_array(b, docs + len);
    len += n;
    roaring_bitmap_free(b);
    return n;
}

static const char *names[] = {"and", "and-count", "or", "or-count"};

// answer runs operation op once and returns the number of docIDs, which it appends to docs unless op is a count.
static uint64_t answer(int op) {
    uint64_t matches = 0;
    for (size_t i = 1; op < 2 && i < count; i++)
        matches += op == 1 ? roaring_bitmap_and_cardinality(lists[i - 1], lists[i])
                           : append(roaring_bitmap_and(lists[i - 1], lists[i]));
    if (op >= 2) {
        roaring_bitmap_t *all = roaring_bitmap_or_many(count, (const roaring_bitmap_t **)lists);
        matches = roaring_bitmap_get_cardinality(all);
        if (op == 2)
            append(all);
        else
            roaring_bitmap_free(all);
    }
    return matches;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: driver FILE ROUNDS\n");
        return 2;
    }
    load(argv[1]);
    for (int op = 0; op < 4; op++) {
        double least = 1e300;
        uint64_t matches = 0, digest = 0;
        len = 0;
        int times = 1; // in a round, because reading the time takes as long as a short operation
        for (int round = 0; round < atoi(argv[2]); round++) {
            double start = now();
            for (int i = 0; i < times; i++) {
                len = 0;
                matches = answer(op);
            }
            double took = (now() - start) / times;
            if (took < least) least = took;
            if (took * times < 1000) times = 1000 / (took + 0.1) + 1;
        }
        for (size_t i = 0; i < len; i++) digest = (digest ^ docs[i]) * UINT64_C(0x100000001b3);
        printf("%s %.3f %" PRIu64 " %" PRIu64 "\n", names[op], least, matches, digest);
    }
    return 0;
}
