package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"testing"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectinprocess"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/layout"
)

// claims are shards without files: each claims to hold as many documents as a shard can, and
// finds all of them. It returns the last ones.
type claims struct {
	api.UnimplementedShardServiceHandler
	layout *layout.Map
	units  []float64    // by shard
	gone   map[int]bool // shards whose node is down
}

// claimed returns a cluster of claims, each on its own node.
func claimed(kind layout.Kind, units ...float64) *claims {
	c := &claims{layout: &layout.Map{Name: "x", Kind: kind, Epoch: 7}, units: units}
	for range units {
		c.layout.Shards = append(c.layout.Shards, layout.Shard{First: c.layout.Docs, Docs: math.MaxUint32, Replicas: []string{fmt.Sprint(len(c.layout.Shards))}})
		c.layout.Docs += math.MaxUint32
	}
	return c
}

func (c *claims) Dial(node string) (connect.Transport, error) {
	if shard, err := strconv.Atoi(node); err != nil || c.gone[shard] {
		return nil, fmt.Errorf("node %s is down", node)
	}
	s := connect.NewServer()
	api.RegisterShardServiceHandler(s, c)
	return connectinprocess.New(s), nil
}

func (c *claims) Map(context.Context, string) (*layout.Map, error)     { return c.layout, nil }
func (c *claims) Refresh(context.Context, string) (*layout.Map, error) { return c.layout, nil }
func (c *claims) Names(context.Context) ([]string, error)              { return []string{"x"}, nil }

func (c *claims) ShardTerms(_ context.Context, r *api.ShardTermsRequest) (*api.ShardTermsResponse, error) {
	out := &api.ShardTermsResponse{Docs: math.MaxUint32, Length: 1 << 40}
	for i, text := range r.GetTexts() {
		out.Terms, out.Df = append(out.Terms, text), append(out.Df, math.MaxUint32)
		out.Numbers, out.Ends = append(out.Numbers, uint32(i)), append(out.Ends, uint32(i+1))
	}
	return out, nil
}

func (c *claims) ShardSearch(_ context.Context, r *api.ShardSearchRequest) (*api.ShardSearchResponse, error) {
	out := &api.ShardSearchResponse{Epoch: 7}
	for range len(r.GetTexts()) + len(r.GetEnds()) {
		out.Counts = append(out.Counts, math.MaxUint32)
		most := uint32(r.GetLimit())
		if r.GetK() > 0 {
			most = r.GetK()
			out.Units = append(out.Units, c.units[r.GetTarget().GetShard()])
		}
		for i := range most {
			out.Docs = append(out.Docs, math.MaxUint32-most+i)
			if r.GetK() > 0 {
				out.Scores = append(out.Scores, float64(r.GetTarget().GetShard()+1))
			}
			if r.GetNames() {
				out.Names = append(out.Names, fmt.Sprintf("s%d-%d", r.GetTarget().GetShard(), i))
			}
		}
		if r.GetCount() {
			out.Docs, out.Names = nil, nil
		}
		out.Ends = append(out.Ends, uint64(len(out.Docs)))
	}
	return out, nil
}

func (c *claims) ShardSelect(_ context.Context, r *api.ShardSelectRequest) (*api.ShardSelectResponse, error) {
	out := &api.ShardSelectResponse{Epoch: 7}
	for range r.GetWhere() {
		out.Counts = append(out.Counts, math.MaxUint32)
		if r.GetRows() {
			out.Rows = append(out.Rows, math.MaxUint32-1)
		}
		out.Ends = append(out.Ends, uint64(len(out.Rows)))
	}
	return out, nil
}

// most is the number of documents of a claim.
const most = uint64(math.MaxUint32)

// TestLarge: counts and numbers of documents and rows above 2^32.
func TestLarge(t *testing.T) {
	c := claimed(layout.Index, 0.5, 0.5, 0.5)
	x := New(c, c, Options{})
	for _, test := range []struct {
		q    engine.Query
		ask  api.Ask
		want api.Hits
	}{
		{engine.Query{Text: "a", CountOnly: true}, api.Ask{}, api.Hits{Count: 3 * most}},
		{engine.Query{Text: "a"}, api.Ask{Limit: 1}, api.Hits{Count: 3 * most, IDs: []uint64{most - 1}}},
		{engine.Query{Text: "a", K: 2}, api.Ask{Names: true}, api.Hits{Count: 2, IDs: []uint64{3*most - 2, 3*most - 1}, Scores: []float64{3, 3}, Names: []string{"s2-0", "s2-1"}}},
	} {
		got, _, err := x.Search(t.Context(), "x", test.q, test.ask)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v: %+v, %v; want %+v", test.q, got, err, test.want)
		}
	}
	c = claimed(layout.Table, 0, 0, 0)
	rows, _, err := New(c, c, Options{}).Select(t.Context(), "x", api.Selection{Where: []string{"a = 1"}, Rows: true})
	want := []api.Rows{{Count: 3 * most, IDs: []uint64{most - 1, 2*most - 1, 3*most - 1}}}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("rows %+v, %v; want %+v", rows, err, want)
	}
}

// TestScale: scores of different units are not merged, and the error names the shards.
func TestScale(t *testing.T) {
	c := claimed(layout.Index, 0.5, 0.5, 0.25)
	_, _, err := New(c, c, Options{}).Search(t.Context(), "x", engine.Query{Text: "a", K: 2}, api.Ask{})
	var scale *ScaleError
	if !errors.As(err, &scale) || *scale != (ScaleError{Collection: "x", Shards: [2]int{0, 2}, Units: [2]float64{0.5, 0.25}}) || engine.CodeOf(err) != engine.Corrupt {
		t.Errorf("error %v", err)
	}
	if _, _, err := New(c, c, Options{}).Search(t.Context(), "x", engine.Query{Text: "a"}, api.Ask{Limit: 2}); err != nil {
		t.Errorf("without scores: error %v", err)
	}
}

// TestPrefixStatistics: the scale of a prefix with statistics of the client would depend on the
// terms of each shard.
func TestPrefixStatistics(t *testing.T) {
	lines := corpus(100)
	m := place(t, newEngine(t), lines, []int{0, 30, 100}, 1)
	c := New(m, m, Options{})
	st := &engine.Statistics{Docs: 1000, Length: 8000, DF: map[string]uint64{"w1": 500, "w10": 30, "w11": 20}}
	for text, refused := range map[string]bool{"w1*": true, "+w1 w10*": true, "(w1 OR w1*) -w2": true, "w1 -w2*": false, "w1": false} {
		_, _, err := c.Search(t.Context(), "x", engine.Query{Text: text, K: 3, Statistics: st}, api.Ask{})
		if (engine.CodeOf(err) == engine.Unsupported) != refused || !refused && err != nil {
			t.Errorf("%s: error %v", text, err)
		}
	}
	if _, _, err := c.Search(t.Context(), "x", engine.Query{Text: "w1*", Literal: true, K: 3, Statistics: st}, api.Ask{}); err != nil {
		t.Errorf("literal: error %v", err)
	}
}
