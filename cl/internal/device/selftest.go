package device

import (
	"context"
	"slices"
	"sync"
)

// A self-test runs kernels on small cases and compares with plain Go, because drivers
// miscompile. Opening a device tests the kernels that it builds. Kernels of other codecs,
// algorithms and strategies are tested on first use, since most programs never use them
// and a build takes seconds on some devices.

// tested remembers the self-tests that a device has passed.
type tested struct {
	mu     sync.Mutex // held during a test
	passed sync.Map
}

// TestOnce runs test for the keys that no test has passed yet, and remembers them if it
// succeeds. It runs one test at a time; callers whose keys have passed do not wait, nor do callers whose ctx has ended. Key
// types tell operations apart.
func TestOnce[K comparable](ctx context.Context, rt *Runtime, keys []K, test func(untested []K) error) error {
	if rt.skipSelfTest {
		return nil
	}
	untested := func(k K) bool { return !rt.HasPassed(k) }
	if !slices.ContainsFunc(keys, untested) {
		return nil
	}
	_, err := Detached(ctx, rt, func() (struct{}, error) {
		rt.tested.mu.Lock()
		defer rt.tested.mu.Unlock()
		var left []K
		for _, k := range keys {
			if untested(k) && !slices.Contains(left, k) {
				left = append(left, k)
			}
		}
		if len(left) == 0 {
			return struct{}{}, nil
		}
		rt.halving.Add(1)
		defer rt.halving.Add(-1)
		if err := test(left); err != nil {
			return struct{}{}, err
		}
		for _, k := range left {
			rt.tested.passed.Store(k, true)
		}
		return struct{}{}, nil
	}, func(struct{}) {})
	return err
}

// HasPassed tells whether the test of a key has succeeded.
func (rt *Runtime) HasPassed(key any) bool {
	_, passed := rt.tested.passed.Load(key)
	return passed
}

// Remember returns the result of f for key, which runs once per device. It is safe for
// concurrent use.
func (rt *Runtime) Remember(key any, f func() bool) bool {
	known, ok := rt.known.Load(key)
	if !ok {
		known, _ = rt.known.LoadOrStore(key, sync.OnceValue(f))
	}
	return known.(func() bool)()
}
