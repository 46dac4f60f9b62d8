package smallcases

import (
	"maps"
	"slices"
	"testing"

	"heddle/cl"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// merges intersects raw lists of up to a few tiles from front to end, docIDs and counts.
func merges(t *testing.T, backend plan.Backend) {
	src := &plan.Source{Docs: universe}
	handles := map[string]plan.Handle{}
	lists := maps.Clone(lists)
	for _, name := range all {
		lists[name] = lists[name][:min(len(lists[name]), 420)]
		h, err := src.Append(codec.Raw, lists[name], codec.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		handles[name] = h
	}
	store, err := backend.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, countOnly := range []bool{false, true} {
		batch := plan.MatchBatch{Algorithm: plan.MergePath, CountOnly: countOnly}
		for _, names := range queries {
			var hs []plan.Handle
			for _, name := range names {
				hs = append(hs, handles[name])
			}
			batch.Add(src, hs...)
		}
		var got plan.Results
		if err := store.Match(t.Context(), &batch, &got); err != nil {
			t.Fatal(err)
		}
		for q, names := range queries {
			var all [][]uint32
			for _, name := range names {
				all = append(all, lists[name])
			}
			want := reference.Intersect(all...)
			if got.Count(q) != uint64(len(want)) || !countOnly && !slices.Equal(got.Query(q), want) {
				t.Errorf("merge, count only %v, %v: %d documents, want %d, or others", countOnly, names, got.Count(q), len(want))
			}
		}
	}
}

// decodes decodes lists of every gap codec to docIDs and to gaps.
func decodes(t *testing.T, backend *cl.Backend) {
	names := []string{"few", "jumps"}
	for _, id := range withLayout(codec.GapLayout) {
		src := &plan.Source{Docs: universe}
		for _, name := range names {
			if _, err := src.Append(id, lists[name], codec.DefaultOptions()); err != nil {
				t.Fatal(err)
			}
		}
		got, _, err := backend.Decode(t.Context(), src, true, 1)
		if err != nil {
			t.Fatalf("%v: %v", id, err)
		}
		for h, name := range names {
			doc := uint32(1<<32 - 1)
			for i, gap := range got[h] {
				if doc += gap + 1; doc != lists[name][i] {
					t.Fatalf("%v: gap %d of list %s is %d", id, i, name, gap)
				}
			}
			if len(got[h]) != len(lists[name]) {
				t.Fatalf("%v: %d gaps of %d docIDs", id, len(got[h]), len(lists[name]))
			}
		}
	}
}

// primitives scans and compacts a few tiles, the last one cut short.
func primitives(t *testing.T, backend *cl.Backend) {
	in, flags := make([]uint32, 1603), make([]uint32, 1603/32+1)
	var sums, low, flagged []uint32
	sum := uint32(0)
	for i := range in {
		in[i] = uint32(i+1) * 2654435761
		sums = append(sums, sum)
		sum += in[i]
		if in[i] < 1<<30 {
			low = append(low, in[i])
		}
		if i%3 == 0 {
			flags[i/32] |= 1 << (i % 32)
			flagged = append(flagged, in[i])
		}
	}
	out := make([]uint32, len(in))
	if _, err := backend.Scan(t.Context(), out, in, 1); err != nil || !slices.Equal(out, sums) {
		t.Errorf("scan: other sums, %v", err)
	}
	got, _, err := backend.Compact(t.Context(), nil, in, cl.Keep{Greatest: 1<<30 - 1}, 1)
	if err != nil || !slices.Equal(got, low) {
		t.Errorf("compact by range: %d elements, want %d, or others: %v", len(got), len(low), err)
	}
	got, _, err = backend.Compact(t.Context(), nil, in, cl.Keep{Flags: flags}, 1)
	if err != nil || !slices.Equal(got, flagged) {
		t.Errorf("compact by flags: %d elements, want %d, or others: %v", len(got), len(flagged), err)
	}
}
