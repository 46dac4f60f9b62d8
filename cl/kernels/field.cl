// field: what groups.cl knows of a column, and how it adds to cells. Helpers of groups.cl, no kernel of its own.
//
// Computes  SUM_CELL: adds to a sum of 64 bits in global memory; ADD_OWN, UP_TO: add to a number in local memory, or raise it.
// Bounds    a slot is of a plain slice of its buffer.
#ifndef HEDDLE_FIELD
#define HEDDLE_FIELD
#ifndef HEDDLE_COLUMN
#include "column.cl"
#endif

// Flags of a field.
#define FIELD_VALUES 1
#define FIELD_SUM 2
#define FIELD_GROUP 4 // a grouping
#define FIELD_LAST 8  // the last one
#define FIELD_PACKED 16
#define FIELD_LEAST 32 // as COLUMN_LEAST
#define FIELD_GREATEST 64

#if NV_SHUFFLE && defined(cl_khr_int64_base_atomics) // others have them in other forms, or not at all
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define SUM_CELL(p, n) atom_add((volatile __global ulong *)(p), n)
#else
#define SUM_CELL(p, n) sum_all(p, 1, n)
#endif
#if SCAN_SERIAL
#define ADD_OWN(p, n) (*(p) += (n))
#define UP_TO(p, n) (*(p) = max(*(p), n))
#else
#define ADD_OWN(p, n) atomic_add(p, n)
#define UP_TO(p, n) atomic_max(p, n)
#endif

// A slot says where the plain slice of a bit begins, in units of four words of its buffer, or its form.
#define SLOT_ZEROS 0xffffffffu
#define SLOT_ONES 0xfffffffeu
#define SLOT_SPARSE 0xfffffffdu
#if USE_ARENAS
#define SLOT_WORDS(i, slot) buffer_at(buffers[i], slot)
#else
#define SLOT_WORDS(i, slot) buffer_at(0, slot)
#endif
#endif
