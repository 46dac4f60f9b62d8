package inspect

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
	"heddle/engine/table/rowset"
)

// DescribeTable implements api.InspectServiceHandler.
func (s *Service) DescribeTable(ctx context.Context, r *api.DescribeTableRequest) (out *api.TableDetails, err error) {
	x, err := s.table(r.GetTable())
	if err != nil {
		return nil, err
	}
	info, err := x.Info()
	if err != nil {
		return nil, err
	}
	defer mapped.Catch(mapped.Watch(), &err) // dictionaries are in the file
	out = &api.TableDetails{
		Name: r.GetTable(), Rows: uint64(info.Rows), File: valid(filepath.Base(info.Path)), Checksum: fmt.Sprintf("%016x", info.Checksum),
		Resident: residents(info.Resident),
	}
	for i := range info.Columns {
		c := &info.Columns[i]
		stored := c.Stored()
		d := &api.ColumnDetails{
			Name: valid(c.Name), Type: c.TypeName(), Binning: stored.Binning.String(), Encoding: stored.Encoding.String(),
			Vectors: uint32(c.Vectors()), Missing: uint64(c.Missing), BinCount: uint32(len(stored.Bins)),
		}
		ranges, err := s.ranges(ctx, x, c)
		if err != nil {
			return nil, err
		}
		for _, b := range ranges {
			d.Bins = append(d.Bins, &api.ColumnBin{Low: literal(stored, b.Lo), High: literal(stored, b.Hi), Rows: uint64(b.Rows), Where: valid(whereOf(stored, b))})
		}
		out.Columns = append(out.Columns, d)
	}
	return out, nil
}

// literal writes the value of a code as a predicate does.
func literal(c *column.Column, code uint64) string {
	return valid(predicate.Value{Literal: c.Literal(code)}.String())
}

const (
	fewBins  = 32   // fewer bins are divided
	mostBins = 1000 // more bins are joined
)

// ranges returns the bins of a column for a picture. A column without bit vectors has one bin, which
// says nothing: wide bins are divided, and their rows counted. The codes that no row has count none.
func (s *Service) ranges(ctx context.Context, x *engine.Table, c *column.Column) ([]column.Bin, error) {
	if c.Values != nil { // the rows of c.Values are values
		return joined(c.Values.Bins), nil
	}
	if len(c.Bins) >= fewBins || len(c.Bins) == 0 {
		return joined(c.Bins), nil
	}
	var out []column.Bin
	var unknown []int // ranges whose rows are to be counted
	parts := uint64(2 * fewBins / len(c.Bins))
	for _, b := range c.Bins {
		width := b.Hi - b.Lo
		if width < 2 { // at most two values
			out = append(out, b)
			continue
		}
		step := width/parts + 1
		for lo := b.Lo; ; lo += step {
			unknown = append(unknown, len(out))
			if b.Hi-lo < step {
				out = append(out, column.Bin{Lo: lo, Hi: b.Hi})
				break
			}
			out = append(out, column.Bin{Lo: lo, Hi: lo + step - 1})
		}
	}
	counted := make([]column.Bin, len(unknown))
	for i, at := range unknown {
		counted[i] = out[at]
	}
	counts, err := countBins(ctx, x, s.Selection(ctx, "", 0), c, counted, "")
	for i, n := range counts {
		out[unknown[i]].Rows = uint32(n)
	}
	return out, err
}

// joined joins neighbouring bins until they are at most mostBins.
func joined(bins []column.Bin) []column.Bin {
	if len(bins) <= mostBins {
		return bins
	}
	each := (len(bins) + mostBins - 1) / mostBins
	var out []column.Bin
	for part := range slices.Chunk(bins, each) {
		all := column.Bin{Lo: part[0].Lo, Hi: part[len(part)-1].Hi}
		for _, b := range part {
			all.Rows += b.Rows
		}
		out = append(out, all)
	}
	return out
}

// whereOf returns the predicate that selects the rows of a bin.
func whereOf(c *column.Column, b column.Bin) string {
	n := predicate.Node{Op: predicate.Compare, By: column.Eq, Column: c.Name, Values: []predicate.Value{{Literal: c.Literal(b.Lo)}}}
	if b.Lo != b.Hi {
		n.Op = predicate.Between
		n.Values = append(n.Values, predicate.Value{Literal: c.Literal(b.Hi)})
	}
	return predicate.Expr{Root: n}.String()
}

// ParsePredicate implements api.InspectServiceHandler.
func (s *Service) ParsePredicate(ctx context.Context, r *api.ParsePredicateRequest) (*api.ParsePredicateResponse, error) {
	if _, err := predicate.Parse(r.GetWhere()); err != nil { // also for a table in a cluster or a collection
		return nil, &engine.Error{Code: engine.InvalidQuery, Op: "parse", Err: err}
	}
	x, err := s.table(r.GetTable())
	if err != nil {
		return nil, err
	}
	p, err := x.Prepare(ctx, s.Selection(ctx, r.GetWhere(), 0))
	if err != nil {
		return nil, err
	}
	return &api.ParsePredicateResponse{Where: valid(p.String())}, nil
}

const (
	defaultRows = 100
	mostRows    = 10_000
)

// InspectSelect implements api.InspectServiceHandler.
func (s *Service) InspectSelect(ctx context.Context, r *api.InspectSelectRequest) (*api.InspectSelectResponse, error) {
	limit := cmp.Or(int(r.GetLimit()), defaultRows)
	if limit > mostRows {
		return nil, badRequest("limit %d: want at most %d", r.GetLimit(), mostRows)
	}
	x, err := s.table(r.GetTable())
	if err != nil {
		return nil, err
	}
	sel := s.Selection(ctx, cmp.Or(r.GetWhere(), "TRUE"), r.GetTimeoutMs())
	sel.Explain = new(engine.TableExplanation)
	rows, err := x.Select(ctx, sel)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	e := sel.Explain
	out := &api.InspectSelectResponse{
		Count: rows.Count, Where: valid(e.Where), Vectors: uint32(e.Plan.Vectors), Bytes: e.Bytes,
		Strategy: valid(e.How), CompileMs: ms(e.Compile), Way: wayOf(&e.Explanation),
	}
	for _, row := range rowset.AppendFirst(nil, rows.Bits, limit) {
		out.Rows = append(out.Rows, uint64(row))
	}
	for _, t := range e.Plan.Tests {
		test := &api.ColumnTest{Column: valid(t.Column), Missing: t.Missing, Bins: uint32(t.Bins), Whole: uint32(t.Whole), Checked: uint32(t.Checked)}
		for _, values := range t.Ranges {
			test.Ranges = append(test.Ranges, valid(values))
		}
		out.RowsChecked += uint64(t.Candidates)
		out.Tests = append(out.Tests, test)
	}
	for _, columns := range e.Plan.Compared {
		out.Compared = append(out.Compared, valid(columns))
	}
	out.Plan = s.plan(ctx, &e.Explanation, e.Where, e.How,
		&api.Step{Name: "vectors", Detail: fmt.Sprintf("%d bit vectors, compressed", e.Plan.Vectors), Bytes: e.Bytes},
		&api.Step{Name: "bit slices", Detail: "at most", Bytes: e.Slices})
	if r.GetGroupBy() != "" {
		out.Groups, err = s.groups(ctx, x, sel, r.GetGroupBy())
	}
	return out, err
}

// groups counts the rows of a selection in each range of a column.
func (s *Service) groups(ctx context.Context, x *engine.Table, sel engine.Selection, name string) ([]uint64, error) {
	info, err := x.Info()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(info.Columns, func(c column.Column) bool { return c.Name == name })
	if i < 0 {
		return nil, badRequest("group_by: no column is named %s", syntax.Quote(name))
	}
	c := &info.Columns[i]
	ranges, err := s.ranges(ctx, x, c)
	if err != nil {
		return nil, err
	}
	return countBins(ctx, x, sel, c, ranges, "("+sel.Where+"\n) AND ") // the predicate may end in a comment
}

// countBins counts the rows of each range of a column. The predicates begin with first.
func countBins(ctx context.Context, x *engine.Table, sel engine.Selection, c *column.Column, bins []column.Bin, first string) ([]uint64, error) {
	sel.Output, sel.Explain = plan.OutputCounts, nil
	all := make([]engine.Selection, len(bins))
	for i, b := range bins {
		all[i] = sel
		all[i].Where = first + whereOf(c, b)
	}
	counts := make([]uint64, len(all))
	err := x.SelectAll(ctx, all, func(first int, rows []engine.Rows) error {
		for i, r := range rows {
			counts[first+i] = r.Count
		}
		return nil
	})
	return counts, err
}
