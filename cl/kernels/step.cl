// step: the steps of selections, as rows.cl and slices.cl have them. No kernel of its own.
//
// Batch     one upload of uint4: {loads, carries, turn, 0}, counts, selections {first step, steps, number of its
//           count, number of its bits}, steps, operands. A step is {code, first operand, operands, w}.
//           Codes up to STEP_COMPARE are those of package plan.
//             STEP_ANY    w: how many steps to leave out, this one included, where the top of the stack has
//                         no row (0: none). Operands: see rows.cl; slices.cl has none of them
//             STEP_ALL    w: the same
//             STEP_CHECK  of slices.cl. w: the column. Operands: ranges {Lo, Hi}, ascending
//             STEP_COMPARE of slices.cl. w: ORDER_LESS, ORDER_EQUAL, ORDER_GREATER. Operands: {column, other column, 0, 0},
//                         {base, other base}, in two words each
//             STEP_LISTED STEP_CHECK with a bit for each code from the first range to the end of the last one, which follow
//                         the ranges: bit c%32 of word c/32 for code Lo + c
//             STEP_LOAD   of rows.cl: {code, column, 0, w as of STEP_ANY} pushes a column of `columns`, groups as
//                         words
//             STEP_BITS   {code, at, checked, 0} keeps the rows that plain bits have, at units of four words
//                         from the beginning of `out`, or of `checks` where checked is 1
#ifndef HEDDLE_STEP
#define HEDDLE_STEP

#define STEP_ANY 0
#define STEP_AND 1
#define STEP_OR 2
#define STEP_ANDNOT 3
#define STEP_NOT 4
#define STEP_CHECK 5
#define STEP_ALL 6
#define STEP_COMPARE 7
#define STEP_LOAD 8
#define STEP_BITS 9
#define STEP_LISTED 10

#define ORDER_LESS 1
#define ORDER_EQUAL 2
#define ORDER_GREATER 4

#define NO_COUNTS 0xffffffff
#endif
