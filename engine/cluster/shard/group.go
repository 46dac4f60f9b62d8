package shard

import (
	"sync"

	"heddle/engine/api"
	"heddle/engine/internal/stack"
)

// group returns the targets of a request to several shards of one node.
func group(first *api.ShardTarget, more []uint32) ([]*api.ShardTarget, error) {
	all := make([]*api.ShardTarget, 1, 1+len(more))
	all[0] = first
	for i, n := range more {
		if n <= all[i].GetShard() {
			err := error(invalidOption("call shards", "more[%d] is %d: want a shard above %d", i, n, all[i].GetShard()))
			reply(&err)
			return nil, err
		}
		all = append(all, &api.ShardTarget{Collection: first.GetCollection(), Epoch: first.GetEpoch(), Shard: n})
	}
	return all, nil
}

// together calls f for all shards at the same time. It returns the shards that succeeded with their
// answers, and the error of the first if none did. A panic of f is one of the caller.
func together[A any](targets []*api.ShardTarget, f func(*api.ShardTarget) (A, error)) (have []uint32, all []A, err error) {
	answers, errs := make([]A, len(targets)), make([]error, len(targets))
	panics := make([]any, len(targets))
	var wg sync.WaitGroup
	for i, t := range targets[1:] {
		wg.Go(func() {
			stack.Grow()
			defer func() { panics[i+1] = recover() }()
			answers[i+1], errs[i+1] = f(t)
		})
	}
	func() {
		defer wg.Wait()
		answers[0], errs[0] = f(targets[0])
	}()
	for i, t := range targets {
		if panics[i] != nil {
			panic(panics[i])
		}
		if errs[i] == nil {
			have, all = append(have, t.GetShard()), append(all, answers[i])
		}
	}
	if len(have) == 0 {
		err = errs[0]
	}
	return have, all, err
}
