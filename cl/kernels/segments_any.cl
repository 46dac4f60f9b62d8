// Segments of whichever gap codecs a kernel is built for, decoded by LANES
// work-items, a whole work-group.
//
// Computes  the gaps of values 4*lane to 4*lane+3 of segment s of the list of
//           record r, zeros for a codec that is not built in. Gaps behind the last
//           value are undefined.
// Local     WORK_WORDS words of `work`.
// Bounds    see segments.cl and segments_rpfd.cl.
#if !SCAN_SERIAL && !defined HEDDLE_SEGMENT_GAPS
#define HEDDLE_SEGMENT_GAPS
#ifndef HEDDLE_RPFD
#include "segments_rpfd.cl"
#endif
// The codecs that are built in; the host asks for the codecs of its lists.
#ifndef USE_PARAPFOR
#define USE_PARAPFOR 0
#endif
#ifndef USE_VBYTE
#define USE_VBYTE 0
#endif
#ifndef USE_RICE
#define USE_RICE 0
#endif
#ifndef USE_PFD
#define USE_PFD 0
#endif
#ifndef USE_NEWPFD
#define USE_NEWPFD 0
#endif
#ifndef USE_RPFD
#define USE_RPFD 0
#endif

#if USE_RPFD
#define WORK_WORDS (RPFD_WORDS + LANES)
#else
#define WORK_WORDS LANE_WORDS
#endif

// gaps_of decodes segment s by the codec of the list.
static inline uint4 gaps_of(words_t p, uint4 r, uint s, uint count, uint lane, __local uint *work) {
    uint4 v = 0;
    switch (r.w & 0xff) { // the same for the whole group
#if USE_PARAPFOR
    case CODEC_PARAPFOR: v = parapfor_lanes(p, r, s, count, lane, work); break;
#endif
#if USE_VBYTE
    case CODEC_VBYTE: v = vbyte_lanes(p, r, s, count, lane, work); break;
#endif
#if USE_RICE
    case CODEC_RICE: v = rice_lanes(p, r, s, count, lane, work); break;
#endif
#if USE_PFD
    case CODEC_PFD: v = pfd_lanes(p, r, s, count, lane, work); break;
#endif
#if USE_NEWPFD
    case CODEC_NEWPFD: v = newpfd_lanes(p, r, s, count, lane, work); break;
#endif
#if USE_RPFD
    case CODEC_RPFD: v = rpfd_lanes(p, r, s, count, lane, work); break;
#endif
    }
    return v;
}

// touch asks for a cache line ahead of the loads.
#if NV_SHUFFLE
static inline void touch(words_t p) { asm volatile("prefetch.global.L1 [%0];" ::"l"(p)); }
#endif

// touch_segment asks for the words of segment s, so that segments that are decoded
// one after the other do not wait for memory each.
static inline void touch_segment(words_t p, uint4 r, uint s) {
#if NV_SHUFFLE // the builtin `prefetch` does nothing on most devices
    uint codec = r.w & 0xff, at = 0;
    if (codec == CODEC_VBYTE) {
        at = vbyte_at(p, r, s);
    } else if (codec == CODEC_RICE) {
        rice_t x = rice_of(p, r, s);
        touch(p + x.low);
        at = x.at;
    } else if (codec == CODEC_RPFD) {
        uint a = SEGMENTS(r.y);
        rpfd_t x = rpfd_of(p, r.z, a, r.y);
        at = clamp_at(r.z, x.slots + 4 * (ulong)x.b * s);
    } else {
        at = pfd_of(p, r, s).at; // parapfor has its directory in the same place
    }
    touch(p + at);
    touch(p + min(at + 31, r.z)); // 128 values of 8 bits are 32 words
#endif
}

#endif
