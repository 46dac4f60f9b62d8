package shard

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"heddle/engine/api"
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
