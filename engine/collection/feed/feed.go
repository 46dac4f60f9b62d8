// Package feed changes the collections of a process that also answers queries on them: a change is in
// all further answers when it returns.
//
// Additions that arrive while another one runs, or in the pause after it, share the next segment, so
// that many small additions cost about as much as few large additions. Small segments are joined in the
// background.
package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/collection"
	"heddle/engine/file/input"
	"heddle/engine/index/build"
	"heddle/engine/syntax"
)

// Options say which collections a Feed changes.
type Options struct {
	// Dirs are the folders of the collections by name.
	Dirs map[string]string
	// Load opens the newest state of a collection for queries.
	Load func(ctx context.Context, name string) error
	// Creator is the name and version of the program, for the files.
	Creator string
	// Merged receives the error of each merge in the background, nil for none. Default: nil.
	Merged func(name string, err error)
}

// Feed changes collections. It implements server.Changer. It is safe for concurrent use. It holds the
// lock of a collection from its first change until Close.
type Feed struct {
	opt Options
	mu  sync.Mutex
	all map[string]*feeder
}

// New returns a feed. The caller closes it after its last change.
func New(opt Options) *Feed { return &Feed{opt: opt, all: map[string]*feeder{}} }

// feeder changes one collection.
type feeder struct {
	opt  *Options
	name string

	change sync.Mutex         // one change at a time; merges run beside them
	writer *collection.Writer // nil before the first change; guarded by change
	tasks  sync.WaitGroup     // merges of writer

	runs    sync.WaitGroup
	closing chan struct{} // closed by Close
	mu      sync.Mutex
	queue   []*addition
	waiting int  // bytes of queue
	running bool // a goroutine takes additions from queue
	merging bool
	again   bool // a further merge follows
}

// addition is a call of Add.
type addition struct {
	lines []byte
	reply *api.DocumentsResponse
	err   error
	done  chan struct{}
}

// of returns the feeder of a collection.
func (f *Feed) of(name string) (*feeder, error) {
	if f.opt.Dirs[name] == "" {
		return nil, &engine.Error{Code: engine.NotFound, Op: "change collection", Err: fmt.Errorf("no collection is named %s", syntax.Quote(name))}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.all[name]
	if x == nil {
		x = &feeder{opt: &f.opt, name: name, closing: make(chan struct{})}
		f.all[name] = x
	}
	return x, nil
}

// Close waits for the running changes and merges and releases the collections.
func (f *Feed) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, x := range f.all {
		close(x.closing)
		x.runs.Wait()
		x.change.Lock()
		errs = append(errs, x.release())
		x.change.Unlock()
	}
	clear(f.all)
	return errors.Join(errs...)
}

const (
	mostWaiting = 256 << 20 // bytes of additions that wait
	mostJoined  = 32 << 20  // bytes of additions that share a segment, if there are several
	mergeMemory = 64 << 20  // bytes of attributes that a merge has in memory

	// The pause after an addition leaves the processor to queries: additions take a tenth of the time.
	// The limit keeps each one visible within a second on a slow machine.
	pauseTimes = 9
	mostPause  = 250 * time.Millisecond
)

// Add adds documents in JSON lines, or replaces documents of the same names: all or none. The lines are
// a text as input.Plain reads it, without compression. Errors: code InvalidOption for documents that
// the collection cannot take, with the line; Overloaded if too many
// additions wait; Closed if another process changes the collection.
func (f *Feed) Add(ctx context.Context, name string, lines []byte) (*api.DocumentsResponse, error) {
	x, err := f.of(name)
	if err != nil {
		return nil, err
	}
	if lines, err = input.Plain("-", lines); err != nil {
		return nil, x.fail(err)
	}
	a := &addition{lines: lines, done: make(chan struct{})}
	x.mu.Lock()
	if x.waiting+len(lines) > mostWaiting && x.waiting > 0 {
		x.mu.Unlock()
		return nil, &engine.Error{Code: engine.Overloaded, Op: "add documents", Err: fmt.Errorf("%d bytes of additions wait: the most is %d", x.waiting, mostWaiting)}
	}
	x.queue, x.waiting = append(x.queue, a), x.waiting+len(lines)
	if !x.running {
		x.running = true
		x.runs.Go(x.run)
	}
	x.mu.Unlock()
	select {
	case <-a.done:
		return a.reply, a.err
	case <-ctx.Done(): // the addition goes on
		return nil, &engine.Error{Code: engine.CodeOf(ctx.Err()), Op: "add documents", Err: ctx.Err()}
	}
}

// run adds the documents of the queue until it is empty.
func (x *feeder) run() {
	for {
		x.mu.Lock()
		n, size := 0, 0
		for n < len(x.queue) && (n == 0 || size+len(x.queue[n].lines) <= mostJoined) {
			size += len(x.queue[n].lines)
			n++
		}
		now := slices.Clone(x.queue[:n])
		x.queue, x.waiting = x.queue[n:], x.waiting-size
		if x.running = n > 0; n == 0 {
			x.mu.Unlock()
			return
		}
		x.mu.Unlock()
		began := time.Now()
		if err := x.add(now); err != nil && len(now) > 1 { // one of them is wrong
			for _, a := range now {
				_ = x.add([]*addition{a}) // the error is in a
			}
		}
		for _, a := range now {
			close(a.done)
		}
		x.pause(min(pauseTimes*time.Since(began), mostPause))
	}
}

// pause waits for a time, or until the feed closes.
func (x *feeder) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-x.closing:
	}
}

// add adds documents as one segment, and sets the replies or the errors.
func (x *feeder) add(all []*addition) error {
	var lines bytes.Buffer
	for _, a := range all {
		lines.Write(a.lines)
		lines.WriteByte('\n')
	}
	reply, err := x.do(context.Background(), func(ctx context.Context, w *collection.Writer, r *api.DocumentsResponse) error {
		opt := build.DefaultOptions()
		opt.Format, opt.Stdin = build.JSONL, bytes.NewReader(lines.Bytes())
		added, err := w.Add(ctx, []string{"-"}, opt)
		r.Epoch = added.Epoch
		return err
	})
	for _, a := range all {
		if a.err = err; err == nil {
			a.reply = &api.DocumentsResponse{Epoch: reply.Epoch, Documents: reply.Documents, Added: documents(a.lines)}
		}
	}
	if err == nil {
		x.maintain()
	}
	return err
}

// documents is the number of lines that are not blank.
func documents(lines []byte) (n uint64) {
	for line := range bytes.SplitSeq(lines, []byte{'\n'}) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

// do runs a change and opens its state for queries.
func (x *feeder) do(ctx context.Context, change func(context.Context, *collection.Writer, *api.DocumentsResponse) error) (*api.DocumentsResponse, error) {
	x.change.Lock()
	defer x.change.Unlock()
	w, err := x.open()
	if err != nil {
		return nil, x.fail(err)
	}
	r := &api.DocumentsResponse{}
	if err := change(ctx, w, r); err != nil {
		if !refused(err) { // the state on the disk may be unknown
			err = errors.Join(err, x.release())
		}
		return nil, x.fail(err)
	}
	r.Documents = w.Manifest().Live()
	return r, x.opt.Load(ctx, x.name)
}

// refused reports whether an error is the fault of the documents.
func refused(err error) bool {
	return errors.Is(err, input.ErrCorrupt) || errors.Is(err, collection.ErrDocuments)
}

// fail returns the error of a change with its code.
func (x *feeder) fail(err error) error {
	code := engine.CodeOf(err)
	switch {
	case refused(err):
		code = engine.InvalidOption
	case errors.Is(err, collection.ErrLocked):
		code = engine.Closed
	}
	return &engine.Error{Code: code, Op: "change collection " + x.name, Err: err}
}

// open returns the writer. It is called with the lock.
func (x *feeder) open() (w *collection.Writer, err error) {
	if x.writer == nil {
		x.writer, err = collection.Open(x.opt.Dirs[x.name], collection.Options{Creator: x.opt.Creator, Memory: mergeMemory})
	}
	return x.writer, err
}

// release closes the writer after its merges. It is called with the lock.
func (x *feeder) release() error {
	x.tasks.Wait()
	if x.writer == nil {
		return nil
	}
	w := x.writer
	x.writer = nil
	return w.Close()
}

// maintain joins small segments in the background.
func (x *feeder) maintain() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.merging {
		x.again = true
		return
	}
	x.change.Lock() // release waits for the task, or comes before it
	defer x.change.Unlock()
	w := x.writer
	if w == nil {
		return
	}
	x.merging = true
	x.tasks.Go(func() {
		for more := true; more; {
			err := w.Maintain(context.Background())
			if err == nil {
				err = x.opt.Load(context.Background(), x.name)
			}
			if x.opt.Merged != nil {
				x.opt.Merged(x.name, err)
			}
			x.mu.Lock()
			more = x.again && err == nil
			x.again, x.merging = false, more
			x.mu.Unlock()
		}
	})
}

// Delete deletes documents by their names. A name that no document has is no error.
func (f *Feed) Delete(ctx context.Context, name string, names []string) (*api.DocumentsResponse, error) {
	x, err := f.of(name)
	if err != nil {
		return nil, err
	}
	return x.do(ctx, func(ctx context.Context, w *collection.Writer, r *api.DocumentsResponse) error {
		removed, err := w.Delete(ctx, func(yield func(string, error) bool) {
			for _, n := range names {
				if !yield(n, nil) {
					return
				}
			}
		})
		r.Epoch, r.Deleted, r.Missing = removed.Epoch, removed.Deleted, removed.Missing
		return err
	})
}

// Merge joins all segments of a collection.
func (f *Feed) Merge(ctx context.Context, name string) (*api.DocumentsResponse, error) {
	x, err := f.of(name)
	if err != nil {
		return nil, err
	}
	return x.do(ctx, func(ctx context.Context, w *collection.Writer, r *api.DocumentsResponse) error {
		err := w.Merge(ctx)
		r.Epoch = w.Manifest().Epoch
		return err
	})
}
