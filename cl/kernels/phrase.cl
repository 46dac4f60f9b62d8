// phrase_find, phrase_match: the documents of phrases and windows, and how often each has them.
//
// Computes  phrase_find: candidates[...] = {part, element} of the documents of the lists of the rarest word
//           of each phrase that all other words have, as far as bitsets tell, and lists of ParaPFor of
//           words that have one; state[APPENDED] counts them.
//           phrase_match: for each candidate that has all words, and in which their positions
//           match: found[...] = {query, document, how many matches}, or the sum of their weights
//           of a sloppy phrase. It is LONG where the words have more occurrences than PHRASE_MOST,
//           or SLOPPY_MOST, or more lists than PHRASE_LISTS. The order is any. plan.PhraseKind says what a
//           match is.
// Source    documents first, as Ding et al. 2009, section 8; then a work-item walks the positions of
//           one document.
// Batch     one upload of uint4. First the parts of the lists of the rarest words, PART(i), by
//           ascending place:
//             {its list, first element, elements, place among `docs` in units of four words}
//           At queries_at {first list, lists, kind (bits 0-7) | words << 8, distance} a query, then four a
//           list, by ascending number of documents of words; lists of a word, its alternatives, stand
//           together:
//             [0] its list (common.cl)
//             [1] {offset of its bitset in `aux`, words of it, what is added to its positions, place
//                 of its word in the phrase}
//             [2] its frequencies: x, y and w as in posting.cl; z is its query
//             [3] {number of its first occurrence: two words, first word of its ranks, bits of a
//                 rank (bits 0-7), 1 if all frequencies are 1 (8)}
// Positions see positions.cl. Rank k of a list is the sum of the frequencies, each less 1, before
//           posting 128 (k + 1).
// State     words: APPENDED, FOUND, documents with all words, positions read (two words); where COUNT_LOADS, words that
//           phrase_match loads of frequencies, ranks, the directory and positions (two words).
// Phases    phrase_match: (1) the document is searched in each list, and given up where an earlier list
//           of the rarest word than its own has it; (2) the frequencies before it in its segment, and
//           the rank before that, give the number of its first occurrence; (3) word by word moves on
//           to its next position until one has no more.
// Launch    any work-group size: phrase_find a work-item for each TOGETHER places among `docs`,
//           phrase_match for each place that there may be a candidate of.
// Local     none.
// Bounds    any words: loads are clamped to the lists, the frequencies, the ranks, the directory and
//           the positions. At most PHRASE_MOST positions are read, each in one step of a loop.
#ifndef HEDDLE_SEEK
#include "seek.cl"
#endif
#ifndef HEDDLE_POSITIONS
#include "positions.cl"
#endif

#define PHRASE_SLOTS 8 // words of a phrase at most
#define TOGETHER 4 // places of a work-item of phrase_find, and the unit in which a part states its place
#define PHRASE_LISTS 16 // lists of the words that a document has, at most
#define PHRASE_MOST 16384 // occurrences of the words in a document at most
#define SLOPPY_MOST 4095 // the same for sloppy phrases, whose sum of weights has 32 bits then

#define APPENDED 0
#define FOUND_AT 1
#define WITH_ALL 2
#define READ 3
#define LOADED 5
#define STATE_WORDS 8 // found begins behind them

// part_of returns the last of n parts that begin at or before a place, in units of four words.
static inline uint part_of(__global const uint4 *batch, uint n, uint at) {
    uint lo = 0, hi = n;
    while (lo < hi) {
        uint mid = (lo + hi) / 2;
        if (batch[mid].w <= at) lo = mid + 1; else hi = mid;
    }
    return max(lo, 1u) - 1;
}

// element_of returns the document of a place: of a raw list the list has it, else `docs`.
static inline uint element_of(ARENA, __global const uint *docs, uint4 list, uint i, uint place) {
    return (list.w & 0xff) == CODEC_RAW ? list_words(ARENA_ARGS, list)[min(i, list.z - 1)] : docs[place];
}

// seek_some tells which of some ascending documents, whose bits are set, a list of ParaPFor has.
static inline uint seek_some(words_t p, uint4 r, const uint *docs, uint some) {
    uint segments = SEGMENTS(r.y), loads = 0, s = 0, last = 0, found = 0, doc = 0, j = 0, e = 0, next = 0;
    segment_t g, in;
    if (r.z / 3 < segments)
        return 0; // no encoder wrote this
    bool open = false;
    for (uint k = 0; k < TOGETHER; k++) {
        uint x = docs[k];
        if (!(some >> k & 1))
            continue;
        if (!open || last < x) {
            s = lower_bound(p, s, segments, x, &loads);
            if (s == segments)
                break;
            open = true;
            last = p[s];
            g = packed_segment(p, r.z, segments, r.y, s);
            in = inside_of(g, r.z);
            doc = s ? p[s - 1] : 0xffffffff;
            j = e = 0;
            next = g.en ? exception_index(p, r.z, g, 0) : SEGMENT;
        }
        while (j < g.count && (j == 0 || doc < x)) {
            uint v = value_in(p, in, j);
            if (j == next) {
                v |= exception_overflow(p, r.z, g, e);
                next = ++e < g.en ? exception_index(p, r.z, g, e) : SEGMENT;
            }
            doc += v + 1;
            j++;
        }
        found |= (doc == x) << k;
    }
    return found;
}

// may_be_in tells which of some documents, whose bits are set, a list can have: by its bitset, or by a search if the list is the
// only one of its word, or all.
static inline uint may_be_in(ARENA, __global const uint *aux, __global const uint4 *record, const uint *docs, uint some,
                             bool only) {
    uint4 list = record[0], table = record[1];
    uint codec = list.w & 0xff, words = codec == CODEC_BITSET ? list.z / 17 * 16 : table.y, have = 0;
    words_t p = list_words(ARENA_ARGS, list), bits = codec == CODEC_BITSET ? p : aux + table.x;
    if (!words)
        return only && codec == CODEC_PARAPFOR ? seek_some(p, list, docs, some) : some;
    for (uint k = 0; k < TOGETHER; k++)
        if (some >> k & 1 && docs[k] / 32 < words)
            have |= (bits[docs[k] / 32] >> (docs[k] & 31) & 1) << k;
    return have;
}

__kernel void phrase_find(ARENA, __global const uint *aux, __global const uint4 *batch, __global const uint *docs,
                          volatile __global uint *state, __global uint2 *candidates, uint parts, uint queries_at, uint places) {
    uint g = get_global_id(0);
    if (g >= places / TOGETHER)
        return;
    uint p = part_of(batch, parts, g);
    uint4 part = batch[p], query = batch[queries_at + batch[part.x + 2].z];
    uint e = (g - part.w) * TOGETHER, end = query.x + 4 * query.y, some = 0, x[TOGETHER];
    for (uint k = 0; k < TOGETHER; k++) {
        x[k] = element_of(ARENA_ARGS, docs, batch[part.x], part.y + e + k, g * TOGETHER + k);
        some |= (e + k < part.z) << k;
    }
    for (uint l = query.x; some && l < end;) {
        uint word = batch[l + 1].w, have = word == batch[part.x + 1].w ? some : 0;
        bool only = l + 4 >= end || batch[l + 5].w != word;
        for (; l < end && batch[l + 1].w == word; l += 4)
            if (some & ~have)
                have |= may_be_in(ARENA_ARGS, aux, batch + l, x, some & ~have, only);
        some &= have;
    }
    for (uint k = 0; k < TOGETHER; k++)
        if (some >> k & 1)
            candidates[atomic_inc(state + APPENDED)] = (uint2)(p, e + k);
}

// sum_before adds the values before value i of a segment up, bit by bit where they have one or two. *at is value i.
static inline ulong sum_before(words_t p, uint words, segment_t g, uint i, uint *at, uint *loads) {
    ulong sum = 0;
    if (g.b == 1 || g.b == 2) {
        uint bits = i * g.b;
        for (uint w = 0; 32 * w < bits; w++) {
            uint v = p[min(g.at + w, words - 1)] & low_mask(min(bits - 32 * w, 32u));
            LOADS(*loads, 1);
            sum += g.b == 1 ? popcount(v) : popcount(v & 0x55555555) + 2 * popcount(v & 0xaaaaaaaa);
        }
    } else if (g.b) {
        for (uint j = 0; j < i; j++) {
            sum += bits_at(p, words, g.at, j * g.b, g.b);
            LOADS(*loads, words_at(j * g.b, g.b));
        }
    }
    *at = bits_at(p, words, g.at, i * g.b, g.b);
    LOADS(*loads, words_at(i * g.b, g.b));
    for (uint e = 0; e < g.en; e++) {
        uint index = exception_index(p, words, g, e), more = exception_overflow(p, words, g, e);
        LOADS(*loads, words_at(e * g.ib, g.ib) + words_at(g.en * g.ib + e * g.hb, g.hb));
        if (index > i)
            break;
        if (index == i)
            *at |= more;
        else
            sum += more;
    }
    return sum;
}

// places_of returns the positions of a posting of a list.
static inline places_t places_of(FREQUENCIES, __global const uint4 *record, __global const uint *ranks, uint rank_words, uint i) {
    uint4 list = record[0], place = record[2], o = record[3];
    places_t c;
    c.at = ((ulong)o.y << 32 | o.x) + i;
    c.left = 1;
    c.position = (ulong)record[1].z - 1;
    c.index = LONG;
    c.block = c.shape = c.exception = c.other = 0;
#if COUNT_LOADS
    c.loads = 0;
#endif
    if (o.w >> 8 & 1)
        return c;
    uint k = i / SEGMENT, width = min(o.w & 0xff, 32u), f = 0, loads = 2;
    ulong sum = 0;
    if (k && width) {
        uint bit = (uint)((ulong)(k - 1) * width % 32);
        sum = bits_at(ranks, rank_words, o.z + (uint)((ulong)(k - 1) * width / 32), bit, width);
        LOADS(loads, words_at(bit, width));
    }
    words_t p = frequency_words(FREQUENCY_ARGS, place);
    sum += sum_before(p, place.y, packed_segment(p, place.y, 0, list.y, k), i % SEGMENT, &f, &loads);
    LOADS(c.loads, loads);
    c.at += sum;
    c.left = f == LONG ? f : f + 1;
    return c;
}

// add adds to a sum of two words.
static inline void add(volatile __global uint *sum, uint n) {
    uint old = atomic_add(sum, n);
    if (old + n < old)
        atomic_inc(sum + 1);
}

__kernel void phrase_match(ARENA, FREQUENCIES, __global const uint4 *batch, __global const uint *docs, volatile __global uint *state,
                           __global const uint2 *candidates, __global const uint *words, __global const uint *directory,
                           __global const uint *ranks, uint queries_at, uint places, uint word_count, uint groups, uint rank_words) {
    uint g = get_global_id(0);
    if (g >= places || g >= state[APPENDED])
        return;
    uint2 candidate = candidates[g];
    uint4 part = batch[candidate.x];
    uint q = batch[part.x + 2].z, i = part.y + candidate.y, x = element_of(ARENA_ARGS, docs, batch[part.x], i, part.w * 4 + candidate.y);
    uint4 query = batch[queries_at + q];
    uint kind = query.z & 0xff, n = min(query.z >> 8, (uint)PHRASE_SLOTS), end = query.x + 4 * query.y;
    uint most = kind == SLOPPY ? SLOPPY_MOST : PHRASE_MOST, total = 0, lists = n;
    places_t all[PHRASE_LISTS];
    for (uint l = query.x; l < end;) {
        uint word = batch[l + 1].w, s = min(word, n - 1);
        bool has = false;
        for (; l < end && batch[l + 1].w == word; l += 4) {
            uint4 list = batch[l];
            uint posting = i;
            if (l != part.x) {
                if (!find(list_words(ARENA_ARGS, list), list, 0, LONG, x, &posting))
                    continue;
                if (l < part.x)
                    return; // a candidate of this list, too
            }
            places_t one = places_of(FREQUENCY_ARGS, batch + l, ranks, rank_words, posting);
            total = total > most || one.left > most ? most + 1 : total + one.left;
            if (!has)
                all[s] = one;
            else if (lists < PHRASE_LISTS) {
                one.other = all[s].other;
                all[s].other = lists;
                all[lists++] = one;
            } else
                total = most + 1;
            has = true;
        }
        if (!has)
            return;
    }
    atomic_inc(state + WITH_ALL);
    uint times = LONG, read = 0;
    if (total <= most) {
        if (!begin(all, n, lists, kind == SLOPPY, POSITION_ARGS))
            times = 0;
        else if (kind == ORDERED)
            times = ordered_times(all, n, query.w, POSITION_ARGS);
        else if (kind == NEAR || kind == SLOPPY)
            times = close_times(all, n, kind == SLOPPY, (ulong)query.w + (kind == SLOPPY), POSITION_ARGS);
        else
            times = exact_times(all, n, POSITION_ARGS);
        read = total;
        for (uint s = 0; s < lists; s++)
            read -= all[s].left;
    }
    add(state + READ, read);
#if COUNT_LOADS
    uint loads = 0;
    for (uint s = 0; s < lists; s++)
        loads += all[s].loads;
    add(state + LOADED, loads);
#endif
    if (times) {
        uint to = STATE_WORDS + 3 * atomic_inc(state + FOUND_AT);
        state[to] = q;
        state[to + 1] = x;
        state[to + 2] = times;
    }
}
