// Common to decompress.cl and reduce.cl: how their kernels divide linear work:
// CHUNK elements at a time to a group of CHUNK_WG work-items (SCAN_SERIAL: of one). No kernel of its own.
#ifndef HEDDLE_CHUNK
#define HEDDLE_CHUNK
#ifndef HEDDLE_WAH
#include "wah.cl"
#endif

#define CHUNK 1024 // a multiple of CHUNK_WG
#if SCAN_SERIAL
#define CHUNK_WG 1
#define CHUNK_GROUP
#else
#define CHUNK_WG 256
#define CHUNK_GROUP __attribute__((reqd_work_group_size(CHUNK_WG, 1, 1)))
#endif
#define CHUNK_OWN (CHUNK / CHUNK_WG)
#if SCAN_SERIAL
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif
// The numbers of a work-item among the CHUNK of its group.
#define EACH_OWN(k) UNROLL for (uint k = 0; k < CHUNK_OWN; k++)
#define OWN_NUMBER(k) ((uint)GROUP_ID(0) * CHUNK + (k) * CHUNK_WG + (uint)get_local_id(0))
// The ones below n.
#define EACH_OF_CHUNK(i, n)                                                  \
    for (uint i = GROUP_ID(0) * CHUNK + get_local_id(0),                 \
              i##_end = min((uint)(n), (uint)(GROUP_ID(0) + 1) * CHUNK); \
         i < i##_end; i += CHUNK_WG)

#endif
