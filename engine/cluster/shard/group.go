package shard

import (
	"sync"
	"time"

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

// quick is the time in which a shard must answer for the next one to follow in the same goroutine. To start
// another goroutine costs some microseconds, and to wake a thread for it more.
const quick = 100 * time.Microsecond

// together calls f for all shards, at the same time unless they are quick. It returns the shards that
// succeeded with their answers, and the error of the first if none did. A panic of f is one of the caller,
// once no other shard is at work.
func together[A any](targets []*api.ShardTarget, f func(i int, t *api.ShardTarget) (A, error)) (have []uint32, all []A, err error) {
	answers, errs, panics := make([]A, len(targets)), make([]error, len(targets)), make([]any, len(targets))
	next := 0
	for took := time.Duration(0); next < len(targets) && took < quick; next++ {
		began := time.Now()
		answers[next], errs[next] = f(next, targets[next])
		took = time.Since(began)
	}
	var wg sync.WaitGroup
	for i := next; i < len(targets); i++ {
		wg.Go(func() {
			stack.Grow()
			defer func() { panics[i] = recover() }()
			answers[i], errs[i] = f(i, targets[i])
		})
	}
	wg.Wait()
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
