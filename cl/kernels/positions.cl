// positions: the positions of words in a document, and how often they match. Helpers of phrase.cl, no
// kernel of its own.
//
// Computes  go_on: the next position of a list. step: the next position of a word, which has one list
//           or several alternatives. exact_times, ordered_times, close_times: the matches of an exact
//           phrase, of an ordered window, and of an unordered window or a sloppy phrase
//           (plan.PhraseKind). begin moves all words to their first positions; then word by word
//           moves on until one has no more.
// Words     places_t all[]: first one a word, the list of the word with the least next position; then the
//           other lists of words, in a chain behind that one. Positions of a word that two of its lists
//           have come twice.
// Source    sloppy phrases: SloppyPhraseMatcher of Lucene 8.
// Positions as package codec/positions packs them: blocks of 128 values in `words`, six words of
//           `directory` for each eight.
// Bounds    any words: loads are clamped to the directory and the positions.
#ifndef HEDDLE_POSITIONS
#define HEDDLE_POSITIONS
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif

#define LONG 0xffffffff
#define END 0xffffffffffffffffUL // position of a list behind its last one

#define SLOPPY 1 // plan.PhraseKind; 0 is an exact phrase
#define NEAR 2
#define ORDERED 3
#define WEIGHT (1u << 20) // of a match without distance: plan.FreqBits

#define POSITION_BLOCK 128
#define POSITION_GROUP 8 // blocks of an entry of the directory

// The positions of a list in a document from one on.
typedef struct {
    ulong at;       // number of the next occurrence
    ulong position; // the last one, with what is added
    uint left;      // how many there are behind it
    uint block;     // first word of the block of the next one
    uint shape;     // of that block
    uint exception; // number of its next exception
    uint index;     // value that this exception belongs to; LONG: the block is not known yet
    uint other;     // the next list of the same word; 0: there is none
#if COUNT_LOADS
    uint loads; // words loaded so far
#endif
} places_t;

// The positions of all lists: package codec/positions.
#define POSITIONS words_t words, uint word_count, words_t directory, uint groups
#define POSITION_ARGS words, word_count, directory, groups

// words_at is the number of words that bits_at loads.
static inline uint words_at(uint bit, uint b) { return 1 + ((bit & 31) + b > 32); }

static inline uint shape_words(uint shape) { return 4 * (shape & 31) + ((shape >> 8) * (11 + 4 * (shape >> 5 & 7)) + 31) / 32; }

static inline uint shape_exception(uint shape) { return 11 + 4 * (shape >> 5 & 7); } // bits

static inline uint exception_place(words_t words, uint word_count, places_t *c, uint e) {
    if (e >= c->shape >> 8)
        return POSITION_BLOCK;
    LOADS(c->loads, words_at(e * shape_exception(c->shape), 7));
    return bits_at(words, word_count, c->block + 4 * (c->shape & 31), e * shape_exception(c->shape), 7);
}

// enter finds the block of the next occurrence. A block that is not inside the words counts as zeros.
static inline void enter(places_t *c, POSITIONS) {
    uint k = (uint)(c->at / POSITION_BLOCK % POSITION_GROUP), slot = (uint)(c->at % POSITION_BLOCK);
    ulong group = c->at / (POSITION_BLOCK * POSITION_GROUP);
    c->block = c->shape = 0;
    if (group < groups) {
        words_t entry = directory + group * 6;
        ulong at = (ulong)entry[1] << 32 | entry[0];
        uint shape = entry[2] & 0xffff;
        for (uint i = 1; i <= k; i++) {
            at += shape_words(shape);
            shape = entry[2 + i / 2] >> (i % 2 * 16) & 0xffff;
        }
        LOADS(c->loads, 3 + k);
        if (at <= word_count && shape_words(shape) <= word_count - at && shape >> 8 <= POSITION_BLOCK) {
            c->block = (uint)at;
            c->shape = shape;
        }
    }
    uint lo = 0, hi = c->shape >> 8; // the first exception that is not before slot
    while (lo < hi) {
        uint mid = (lo + hi) / 2;
        if (exception_place(words, word_count, c, mid) < slot) lo = mid + 1; else hi = mid;
    }
    c->exception = lo;
    c->index = exception_place(words, word_count, c, lo);
}

// go_on moves to the next position, or to END.
static inline void go_on(places_t *c, POSITIONS) {
    if (c->left == 0) {
        c->position = END;
        return;
    }
    uint slot = (uint)(c->at % POSITION_BLOCK);
    if (slot == 0 || c->index == LONG)
        enter(c, POSITION_ARGS);
    uint width = c->shape & 31, v = bits_at(words, word_count, c->block, slot * width, width);
    LOADS(c->loads, words_at(slot * width, width));
    if (slot == c->index) {
        uint size = shape_exception(c->shape);
        v |= bits_at(words, word_count, c->block + 4 * width, c->exception * size + 7, size - 7) << width;
        LOADS(c->loads, words_at(c->exception * size + 7, size - 7));
        c->exception++;
        c->index = exception_place(words, word_count, c, c->exception);
    }
    c->position += (ulong)v + 1;
    c->at++;
    c->left--;
}

// step moves word s to its next position. It returns false at the end of the positions.
static inline bool step(places_t *all, uint s, POSITIONS) {
    go_on(all + s, POSITION_ARGS);
    for (uint i = all[s].other; i; i = all[i].other) {
        if (all[i].position >= all[s].position)
            continue;
        places_t least = all[i];
        uint first = all[s].other, next = least.other;
        all[i] = all[s];
        all[s] = least;
        all[s].other = first;
        all[i].other = next;
    }
    return all[s].position != END;
}

// begin moves all words to their first position; where `apart`, repeated words to one each. It returns false if there are too few.
static inline bool begin(places_t *all, uint n, uint lists, bool apart, POSITIONS) {
    for (uint i = n; i < lists; i++)
        go_on(all + i, POSITION_ARGS);
    for (uint s = n; s-- > 0;) {
        ulong at = all[s].at; // repeated words have the same
        for (uint i = apart ? 0 : s; i <= s; i++)
            if ((i == s || all[i].at == at) && !step(all, s, POSITION_ARGS))
                return false;
    }
    return true;
}

// exact_times counts the numbers that the positions of all words have.
static inline uint exact_times(places_t *all, uint n, POSITIONS) {
    ulong target = 0; // what the last `agree` words have
    uint times = 0, agree = 0, s = 0;
    for (;;) {
        ulong position = all[s].position;
        if (position < target) {
            if (!step(all, s, POSITION_ARGS))
                return times;
            continue;
        }
        agree = position == target ? agree + 1 : 1;
        target = position;
        if (agree == n) {
            times++;
            target++;
            agree = 0;
        }
        s = s + 1 == n ? 0 : s + 1;
    }
}

// ordered_times counts the positions of the first word behind which each next word follows, the first time within the distance.
static inline uint ordered_times(places_t *all, uint n, uint distance, POSITIONS) {
    uint times = 0, s = 1;
    for (;;) {
        uint moves = s;
        if (all[s].position > all[s - 1].position) {
            bool follows = all[s].position - all[s - 1].position <= distance;
            if (follows && ++s < n)
                continue;
            times += follows;
            moves = 0;
            s = 1;
        }
        if (!step(all, moves, POSITION_ARGS))
            return times;
    }
}

// separate moves repeated words on where word s, which has moved, reaches the next of them, and so on: they stay in their order. *end is the
// greatest position. It returns false at the end of the positions.
static inline bool separate(places_t *all, uint n, uint s, ulong *end, POSITIONS) {
    for (uint i = s + 1; i < n; i++) {
        if (all[i].at != all[s].at)
            continue;
        s = i;
        if (!step(all, s, POSITION_ARGS))
            return false;
        *end = max(*end, all[s].position);
    }
    return true;
}

// close_times counts the positions from which on all words follow within less than a limit. The word with the least position moves on.
// A sloppy phrase takes the shortest match before the next word's position in place of each, and adds the weights up.
static inline uint close_times(places_t *all, uint n, bool sloppy, ulong limit, POSITIONS) {
    ulong end = 0, next = 0, length = 0;
    uint times = 0, s = 0;
    for (uint i = 0; i < n; i++)
        end = max(end, all[i].position);
    for (bool more = true, other = true; more;) {
        if (other) { // another word moves on
            s = 0;
            next = ~(ulong)0;
            for (uint i = 1; i < n; i++) {
                ulong position = all[i].position;
                if (position < all[s].position) {
                    next = all[s].position;
                    s = i;
                } else
                    next = min(next, position);
            }
            length = end - all[s].position;
        }
        more = step(all, s, POSITION_ARGS) && (!sloppy || separate(all, n, s, &end, POSITION_ARGS));
        other = !more || !sloppy || all[s].position > next;
        if (other && length < limit)
            times += sloppy ? (2 * WEIGHT / ((uint)min(length, (ulong)2 * WEIGHT) + 1) + 1) / 2 : 1;
        end = max(end, all[s].position);
        length = min(length, end - all[s].position);
    }
    return times;
}

#endif
