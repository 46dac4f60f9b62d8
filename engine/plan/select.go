package plan

import (
	"context"
	"errors"
	"fmt"

	"heddle/codec/bitslice"
)

// StepCode is the effect of one step of a selection on a stack of sets of rows.
type StepCode uint8

const (
	StepAny     StepCode = iota // push the OR of vectors Operands[From:To]; of none: no rows
	StepAnd                     // x y becomes x AND y
	StepOr                      // x y becomes x OR y
	StepAndNot                  // x y becomes x AND NOT y
	StepNot                     // x becomes its complement
	StepCheck                   // x keeps its rows with a code of Column in Ranges[From:To]; a column with tiles drops rows without a value
	StepAll                     // push all rows
	StepCompare                 // x keeps its rows whose codes of two columns are in the order of Comparisons[From]; rows without one of the values go
)

// Step is one step of a selection.
type Step struct {
	Code     StepCode
	Column   uint32 // the column of StepCheck
	From, To uint32 // a range of Operands (StepAny), of Ranges (StepCheck) or of Comparisons (StepCompare: one)
}

// Comparison is the order of two numbers of a row: Base[i] plus its code of Columns[i]. Both are below 2^64 in rows with
// both values. Less, Equal and Greater say which orders of the first one to the second one it includes.
type Comparison struct {
	Columns              [2]uint32
	Base                 [2]uint64
	Less, Equal, Greater bool
}

// Holds tells whether the comparison includes an order: negative, 0 or positive, as cmp.Compare.
func (c *Comparison) Holds(order int) bool {
	return order < 0 && c.Less || order == 0 && c.Equal || order > 0 && c.Greater
}

// CodeRange is a range of codes of a column, both ends included.
type CodeRange = bitslice.Range

// Output is the form of the result of a selection.
type Output uint8

const (
	OutputBits     Output = iota // the rows, as a bitset, and their number
	OutputCounts                 // their number alone
	OutputResident               // their number; the bitset is made, and stays where the backend works
)

// Strategy is how the OR of vectors (StepAny) is computed.
type Strategy uint8

const (
	StrategyAuto Strategy = iota // the backend's choice
	// Fused walks the compressed vectors range by range of rows and accumulates in
	// registers or the nearest cache: it writes no decompressed vector.
	Fused
	// The strategies of Nelson et al. 2020 for devices: vectors are decompressed
	// (Algorithms 1 and 2), then reduced.
	COA         // column-oriented access, Algorithm 3: pairs of columns, level by level
	ROA         // row-oriented access, Algorithm 4: a work-group a row of words
	Hybrid      // tiles of rows and columns, and a second reduction over the tiles, Algorithm 5
	IdealHybrid // tiles of rows that span all columns, Algorithm 6
	// The strategies for CPUs, on compressed vectors.
	Iterative // one vector after another is ORed into the result
	Reduction // pairs of vectors, level by level
	numStrategies
)

var strategyNames = [numStrategies]string{"auto", "fused", "coa", "roa", "hybrid", "ideal", "iterative", "reduction"}

func (s Strategy) String() string {
	if s < numStrategies {
		return strategyNames[s]
	}
	return fmt.Sprintf("strategy(%d)", uint8(s))
}

// Validate returns an error for a value that is no output.
func (o Output) Validate() error {
	if o > OutputResident {
		return fmt.Errorf("unknown output %d (one of 0 to %d)", o, OutputResident)
	}
	return nil
}

// Validate returns an error for a value that is no strategy.
func (s Strategy) Validate() error {
	if s >= numStrategies {
		return fmt.Errorf("unknown strategy %d (one of 0 to %d)", s, numStrategies-1)
	}
	return nil
}

// Strategies returns all strategies but StrategyAuto.
func Strategies() []Strategy {
	var all []Strategy
	for s := StrategyAuto + 1; s < numStrategies; s++ {
		all = append(all, s)
	}
	return all
}

// ParseStrategy finds a strategy by its name.
func ParseStrategy(name string) (Strategy, error) {
	for s, n := range strategyNames {
		if n == name {
			return Strategy(s), nil
		}
	}
	return 0, fmt.Errorf("unknown strategy %q (one of auto, fused, coa, roa, hybrid, ideal, iterative, reduction)", name[:min(len(name), 100)])
}

// MaxSets is the greatest height of the stack of a selection.
const MaxSets = 8

// SelectBatch is a batch of row predicates over one Table, each a sequence of steps in
// postfix order. Its slices are reused from batch to batch. It must not be changed
// while a TableStore runs it.
type SelectBatch struct {
	Output   Output
	Strategy Strategy
	// Rescan makes strategies that decompress compute their scans with every batch, as
	// the paper does, instead of once when the table is loaded: vectors do not change.
	Rescan bool

	// Offsets has one entry a selection and one more: the steps of selection i are
	// Steps[Offsets[i]:Offsets[i+1]]. A selection without steps selects nothing.
	Offsets  []uint32
	Steps    []Step
	Operands []uint32    // vectors
	Ranges   []CodeRange // ascending and disjoint within a step

	Comparisons []Comparison
}

// Reset empties the batch and keeps its memory.
func (s *SelectBatch) Reset() {
	s.Offsets = append(s.Offsets[:0], 0)
	s.Steps, s.Operands, s.Ranges, s.Comparisons = s.Steps[:0], s.Operands[:0], s.Ranges[:0], s.Comparisons[:0]
}

// Len is the number of selections.
func (s *SelectBatch) Len() int { return max(len(s.Offsets)-1, 0) }

// Selection returns the steps of selection i.
func (s *SelectBatch) Selection(i int) []Step { return s.Steps[s.Offsets[i]:s.Offsets[i+1]] }

// End ends the selection whose steps have been appended since the last one ended.
func (s *SelectBatch) End() {
	if len(s.Offsets) == 0 {
		s.Offsets = append(s.Offsets, 0)
	}
	s.Offsets = append(s.Offsets, uint32(len(s.Steps)))
}

// Any appends a step that pushes the OR of vectors.
func (s *SelectBatch) Any(vectors ...uint32) {
	from := uint32(len(s.Operands))
	s.Operands = append(s.Operands, vectors...)
	s.Steps = append(s.Steps, Step{Code: StepAny, From: from, To: uint32(len(s.Operands))})
}

// Check appends a StepCheck of a column.
func (s *SelectBatch) Check(column uint32, ranges ...CodeRange) {
	from := uint32(len(s.Ranges))
	s.Ranges = append(s.Ranges, ranges...)
	s.Steps = append(s.Steps, Step{Code: StepCheck, Column: column, From: from, To: uint32(len(s.Ranges))})
}

// Compare appends a StepCompare.
func (s *SelectBatch) Compare(c Comparison) {
	from := uint32(len(s.Comparisons))
	s.Comparisons = append(s.Comparisons, c)
	s.Steps = append(s.Steps, Step{Code: StepCompare, From: from, To: from + 1})
}

// Do appends a step without operands: StepAnd, StepOr, StepAndNot, StepNot, StepAll.
func (s *SelectBatch) Do(code StepCode) { s.Steps = append(s.Steps, Step{Code: code}) }

// Copy appends steps of another batch, with the vectors, ranges and comparisons that they name.
func (s *SelectBatch) Copy(from *SelectBatch, steps []Step) {
	for _, x := range steps {
		switch x.Code {
		case StepAny:
			s.Any(from.Operands[x.From:x.To]...)
		case StepCheck:
			s.Check(x.Column, from.Ranges[x.From:x.To]...)
		case StepCompare:
			s.Compare(from.Comparisons[x.From])
		default:
			s.Do(x.Code)
		}
	}
}

// Validate checks the batch against t: vectors and columns exist, ranges ascend, and
// the stack of each selection stays within MaxSets and ends with one set.
func (s *SelectBatch) Validate(t *Table) error {
	if err := errors.Join(s.Output.Validate(), s.Strategy.Validate()); err != nil {
		return fmt.Errorf("plan: selections: %w", err)
	}
	if len(s.Offsets) == 0 {
		return nil
	}
	if s.Offsets[0] != 0 || int(s.Offsets[len(s.Offsets)-1]) != len(s.Steps) {
		return fmt.Errorf("plan: offsets of selections do not cover their %d steps", len(s.Steps))
	}
	for i, v := range s.Operands {
		if uint64(v) >= uint64(len(t.Vectors)) {
			return fmt.Errorf("plan: operand %d is vector %d of %d", i, v, len(t.Vectors))
		}
	}
	for i := range s.Len() {
		if s.Offsets[i] > s.Offsets[i+1] || int(s.Offsets[i+1]) > len(s.Steps) {
			return fmt.Errorf("plan: offsets of selection %d do not ascend", i)
		}
		if err := s.validate(t, s.Selection(i)); err != nil {
			return fmt.Errorf("plan: selection %d: %w", i, err)
		}
	}
	return nil
}

func (s *SelectBatch) validate(t *Table, steps []Step) error {
	depth := 0
	for j, x := range steps {
		takes, of := 1, 0
		switch x.Code {
		case StepAny:
			takes, of = 0, len(s.Operands)
		case StepAll:
			takes = 0
		case StepAnd, StepOr, StepAndNot:
			takes = 2
		case StepNot:
		case StepCheck:
			of = len(s.Ranges)
			if uint64(x.Column) >= uint64(len(t.Columns)) {
				return fmt.Errorf("step %d names column %d of %d", j, x.Column, len(t.Columns))
			}
		case StepCompare:
			of = len(s.Comparisons)
		default:
			return fmt.Errorf("step %d has the unknown code %d", j, x.Code)
		}
		if x.From > x.To || int(x.To) > of {
			return fmt.Errorf("step %d takes %d to %d of %d", j, x.From, x.To, of)
		}
		if x.Code == StepCompare {
			if x.To != x.From+1 {
				return fmt.Errorf("step %d takes %d comparisons, want 1", j, x.To-x.From)
			}
			for _, c := range s.Comparisons[x.From].Columns {
				if uint64(c) >= uint64(len(t.Columns)) {
					return fmt.Errorf("step %d compares column %d of %d", j, c, len(t.Columns))
				}
			}
		}
		if depth < takes {
			return fmt.Errorf("step %d takes %d sets, there are %d", j, takes, depth)
		}
		if depth += 1 - takes; depth > MaxSets {
			return fmt.Errorf("step %d makes a stack of %d sets, at most %d are possible", j, depth, MaxSets)
		}
		if x.Code == StepCheck {
			for k := x.From; k < x.To; k++ {
				if r := s.Ranges[k]; r.Lo > r.Hi || k > x.From && r.Lo <= s.Ranges[k-1].Hi {
					return fmt.Errorf("step %d: ranges do not ascend", j)
				}
			}
		}
	}
	if depth > 1 {
		return fmt.Errorf("%d sets are left", depth)
	}
	return nil
}

// Rows are the results of SelectBatch. The caller owns it and reuses it; a TableStore
// overwrites it from the start and grows it where needed. After an error its content
// is undefined.
type Rows struct {
	Counts []uint32 // number of rows of each selection
	Bits   []uint64 // Stride words a selection, row r at bit r%64 of word r/64; with OutputBits
	Stride int
	Stats  Stats

	// Lend lets the store put Bits into memory of its own, without a copy. Lender is the owner of this
	// memory then, else nil. It stays valid until Release, also after the store is closed.
	Lend   bool
	Lender Lender
}

// Lender is the owner of memory that Rows have on loan.
type Lender interface {
	// Return ends the loan. It is called once.
	Return()
}

// Release returns Bits that are on loan. It has no effect on other Bits.
func (r *Rows) Release() {
	if r.Lender != nil {
		r.Lender.Return()
		r.Lender, r.Bits = nil, nil
	}
}

// Selection returns the rows of selection i as a bitset, a view into Bits.
func (r *Rows) Selection(i int) []uint64 {
	return r.Bits[i*r.Stride : (i+1)*r.Stride : (i+1)*r.Stride]
}

// CodeCounter is a TableStore that counts rows by their codes.
type CodeCounter interface {
	// CountCodes counts rows, a bitset of FilterWords words, by their codes in columns, or by bins of
	// their codes. The result of a column has Top+2 counts: the rows without a value, then the rows of each
	// code or bin. It is nil for a column that the store does not take. A code above Last gives an error.
	CountCodes(ctx context.Context, rows []uint64, columns []Input) ([][]uint64, error)
}

// TableStore is a resident Table. It is safe for concurrent use.
type TableStore interface {
	// Select runs every selection of s into out. The batch must be valid
	// (SelectBatch.Validate). A strategy that is not in Strategies gives
	// ErrUnsupported. Select returns early when ctx is done, with ctx.Err(), and leaves the
	// store usable.
	Select(ctx context.Context, s *SelectBatch, out *Rows) error
	// Filter returns the rows of the only selection of s as a filter for the stores of the same
	// backend that have as many documents as the table has rows, without the rows that with lacks,
	// unless it is nil: a filter of such a store. The bits stay in the memory of the backend.
	// It returns the errors of Select, and ErrUnsupported if the backend has no filters or with is no
	// filter of such a store.
	Filter(ctx context.Context, s *SelectBatch, with Filter) (Filter, error)
	// Strategies that the store has, besides StrategyAuto.
	Strategies() []Strategy
	// Explain describes the run of selection i of s in a short text such as "fused, 64
	// vectors, 12.1 MB".
	Explain(s *SelectBatch, i int) string
	// Memory is the size of the store on its backend in bytes.
	Memory() uint64
	Close() error
}
