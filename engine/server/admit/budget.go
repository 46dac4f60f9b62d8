package admit

import (
	"context"
	"math"
	"sync"
	"time"
)

// greed bounds the bytes of a caller: greed times the bytes that are free. Alone, a caller gets three
// quarters of a budget; several callers share it, and a new caller always finds some room.
const greed = 3

// Budget bounds the bytes that requests and their answers hold at the same time. It is safe for concurrent
// use.
type Budget struct {
	mu      sync.Mutex
	limit   int64
	used    int64
	callers map[string]*holding
}

// holding is the bytes of the running requests of a caller.
type holding struct {
	requests int
	bytes    int64
}

// NewBudget returns a budget of some bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit, callers: map[string]*holding{}} }

// Set changes the limit. Running requests keep their bytes.
func (b *Budget) Set(limit int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = limit
}

// Use returns the bytes that requests hold, and the limit.
func (b *Budget) Use() (used, limit int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.limit
}

// Account is the bytes of a request. A nil account has no limit. It is safe for concurrent use.
type Account struct {
	budget *Budget
	caller string
	of     *holding // nil before Take
	bytes  int64
}

// Open returns the account of a request, which the caller closes.
func (b *Budget) Open(caller string) *Account { return &Account{budget: b, caller: caller} }

// Take adds bytes. A refusal adds none; its time After is 0 if the request alone is too large.
func (a *Account) Take(n int64) *Refusal {
	if a == nil || n <= 0 {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.of == nil {
		h := b.callers[a.caller]
		if h == nil {
			h = &holding{}
			b.callers[a.caller] = h
		}
		h.requests++
		a.of = h
	}
	if a.of.bytes+n > greed*(b.limit-b.used-n) {
		refusal := &Refusal{Limit: "memory", Max: int(b.limit), After: time.Second}
		if a.bytes+n > greed*(b.limit-a.bytes-n) {
			refusal.After = 0
		}
		return refusal
	}
	a.bytes += n
	a.of.bytes += n
	b.used += n
	return nil
}

// Give gives bytes back.
func (a *Account) Give(n int64) {
	if a == nil || n <= 0 {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	a.give(n)
}

func (a *Account) give(n int64) {
	a.bytes -= n
	if a.of != nil {
		a.of.bytes -= n
	}
	a.budget.used -= n
}

// Bytes returns the bytes of the account.
func (a *Account) Bytes() int64 {
	if a == nil {
		return 0
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	return a.bytes
}

// Close gives all bytes back. The account takes no more bytes then.
func (a *Account) Close() {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.of == nil {
		return
	}
	a.give(a.bytes)
	if a.of.requests--; a.of.requests == 0 {
		delete(b.callers, a.caller)
	}
	a.of = nil
}

type accountKey struct{}

// With returns a context with the account of a request.
func With(ctx context.Context, a *Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// Of returns the account of a context; nil without one.
func Of(ctx context.Context) *Account {
	a, _ := ctx.Value(accountKey{}).(*Account)
	return a
}

// Room returns the bytes that Take would add now.
func (a *Account) Room() int64 {
	if a == nil {
		return math.MaxInt64
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	var held int64
	if h := b.callers[a.caller]; h != nil {
		held = h.bytes
	}
	return max(0, (greed*(b.limit-b.used)-held)/(greed+1))
}
