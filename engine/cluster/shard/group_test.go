package shard

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"heddle/engine/api"
	"heddle/engine/internal/part"
)

// TestTogether: the shards that succeed have their answers in order. A panic reaches the caller when no
// other shard is at work.
func TestTogether(t *testing.T) {
	targets, err := group(&api.ShardTarget{Shard: 2}, []uint32{3, 7, 9})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for _, slow := range []time.Duration{0, 2 * quick} {
		have, all, err := together(targets, func(i int, target *api.ShardTarget) (uint32, error) {
			if time.Sleep(slow); i == 1 {
				return 0, broken
			}
			return 10 * target.GetShard(), nil
		})
		if err != nil || !slices.Equal(have, []uint32{2, 7, 9}) || !slices.Equal(all, []uint32{20, 70, 90}) {
			t.Errorf("%v, %v, %v", have, all, err)
		}
		if _, _, err := together(targets, func(int, *api.ShardTarget) (int, error) { time.Sleep(slow); return 0, broken }); err != broken {
			t.Errorf("error %v", err)
		}
		func() {
			ended := 0
			defer func() {
				if recover() != "bug" {
					t.Error("no panic")
				}
				if slow > 0 && ended != 3 {
					t.Errorf("%d of three other shards have ended", ended)
				}
			}()
			var mu sync.Mutex
			_, _, _ = together(targets, func(i int, _ *api.ShardTarget) (int, error) {
				if time.Sleep(slow); i == 1 {
					panic("bug")
				}
				time.Sleep(slow)
				mu.Lock()
				defer mu.Unlock()
				ended++
				return 0, nil
			})
		}()
	}
	if _, err := group(&api.ShardTarget{Shard: 2}, []uint32{3, 3}); err == nil {
		t.Error("a shard twice is a group")
	}
}

// TestJoinTerms: a text keeps a term as often as it has it, and terms of other shards behind those of the first.
func TestJoinTerms(t *testing.T) {
	out := joinTerms([]*part.Terms{
		{Docs: 2, Length: 5, Terms: []string{"a", "b"}, DF: []uint64{1, 2}, Numbers: []uint32{0, 1, 0, 1}, Ends: []uint32{3, 4}},
		{Docs: 3, Length: 7, Terms: []string{"c", "a"}, DF: []uint64{3, 1}, Numbers: []uint32{1, 0, 1, 1, 0, 0}, Ends: []uint32{3, 6}},
	})
	if out.Docs != 5 || out.Length != 12 || !slices.Equal(out.Terms, []string{"a", "b", "c"}) || !slices.Equal(out.DF, []uint64{2, 2, 3}) {
		t.Errorf("statistics %v", out)
	}
	if !slices.Equal(out.Ends, []uint32{4, 7}) || !slices.Equal(out.Numbers, []uint32{0, 1, 0, 2, 1, 0, 2}) {
		t.Errorf("numbers %d, ends %d", out.Numbers, out.Ends)
	}
}

// TestLargeDocs: documents above 2^32, which a shard never has, are no other documents of it.
func TestLargeDocs(t *testing.T) {
	all, err := filtersOf([]*api.Filter{{Docs: &api.DocumentSet{Ids: []uint64{7, math.MaxUint32 + 1, math.MaxUint32 + 8, math.MaxUint64}}}})
	if err != nil || !slices.Equal(all[0].Docs, []uint32{7, math.MaxUint32, math.MaxUint32, math.MaxUint32}) {
		t.Errorf("documents %v, %v", all, err)
	}
}
