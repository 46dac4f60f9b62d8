package collections

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/input"
)

// queue is the additions of a collection that wait. Additions that arrive while another one runs, or in the pause
// after it, share the next segment, so that many small additions cost about as much as few large additions.
type queue struct {
	runs    sync.WaitGroup
	closing chan struct{} // closed by close

	adding  sync.Mutex
	all     []*addition
	waiting int  // bytes of all
	running bool // a goroutine takes additions from all
}

// addition is a call of Add.
type addition struct {
	lines []byte
	reply *api.DocumentsResponse
	err   error
	done  chan struct{}
}

const (
	mostWaiting = 256 << 20 // bytes of additions that wait
	mostJoined  = 32 << 20  // bytes of additions that share a segment, if there are several

	// The pause after an addition leaves the processor to queries: additions take a tenth of the time.
	// The limit keeps each one visible within a second on a slow machine.
	pauseTimes = 9
	mostPause  = 250 * time.Millisecond
)

// Add adds documents in JSON lines, or replaces documents of the same names: all or none. The lines are
// a text as input.Plain reads it, without compression. Errors: code InvalidOption for documents that
// the collection cannot take, with the line; Overloaded if too many
// additions wait; Closed if another process changes the collection.
func (s *Set) Add(ctx context.Context, name string, lines []byte) (*api.DocumentsResponse, error) {
	const op = "add documents"
	x, err := s.find(name)
	if err != nil {
		return nil, err
	}
	if lines, err = input.Plain("-", lines); err != nil {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: op, Err: err}
	}
	a := &addition{lines: lines, done: make(chan struct{})}
	x.adding.Lock()
	if x.waiting+len(lines) > mostWaiting && x.waiting > 0 {
		x.adding.Unlock()
		return nil, &engine.Error{Code: engine.Overloaded, Op: op, Err: fmt.Errorf("%d bytes of additions wait: the most is %d", x.waiting, mostWaiting)}
	}
	x.all, x.waiting = append(x.all, a), x.waiting+len(lines)
	if !x.running {
		x.running = true
		x.runs.Go(x.run)
	}
	x.adding.Unlock()
	select {
	case <-a.done:
		return a.reply, a.err
	case <-ctx.Done(): // the addition goes on
		return nil, &engine.Error{Code: engine.CodeOf(ctx.Err()), Op: op, Err: ctx.Err()}
	}
}

// run adds the documents of the queue until it is empty.
func (x *served) run() {
	for {
		x.adding.Lock()
		n, size := 0, 0
		for n < len(x.all) && (n == 0 || size+len(x.all[n].lines) <= mostJoined) {
			size += len(x.all[n].lines)
			n++
		}
		now := slices.Clone(x.all[:n])
		x.all, x.waiting = x.all[n:], x.waiting-size
		if x.running = n > 0; n == 0 {
			x.adding.Unlock()
			return
		}
		x.adding.Unlock()
		began := time.Now()
		if err := x.add(now); err != nil && len(now) > 1 { // one of them is wrong
			for _, a := range now {
				_ = x.add([]*addition{a}) // the error is in a
			}
		}
		for _, a := range now {
			close(a.done)
		}
		if slices.ContainsFunc(now, func(a *addition) bool { return a.err == nil }) {
			x.pause(min(pauseTimes*time.Since(began), mostPause))
		}
	}
}

// pause waits for a time, or until the collection closes.
func (x *served) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-x.closing:
	}
}

// add adds documents as one segment, and sets the replies or the errors.
func (x *served) add(all []*addition) error {
	var lines bytes.Buffer
	for _, a := range all {
		lines.Write(a.lines)
		lines.WriteByte('\n')
	}
	now, err := x.AddLines(context.Background(), bytes.NewReader(lines.Bytes()))
	for _, a := range all {
		if a.err = err; err == nil {
			a.reply = &api.DocumentsResponse{Epoch: now.State, Documents: now.Documents, Added: documents(a.lines)}
		}
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

// Delete deletes documents by their names. A name that no document has is no error.
func (s *Set) Delete(ctx context.Context, name string, names []string) (*api.DocumentsResponse, error) {
	x, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return reply(x.Collection.Delete(ctx, names...))
}

// DeleteWhere deletes the documents whose attributes make a predicate true.
func (s *Set) DeleteWhere(ctx context.Context, name, where string) (*api.DocumentsResponse, error) {
	x, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return reply(x.DeleteMatches(ctx, engine.Query{Filter: &engine.Filter{Where: where}}))
}

// Update changes members of documents.
func (s *Set) Update(ctx context.Context, name string, lines []byte) (*api.DocumentsResponse, error) {
	x, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return reply(x.UpdateLines(ctx, bytes.NewReader(lines)))
}

// Backup copies the newest state to a folder.
func (s *Set) Backup(ctx context.Context, name, to string) (*api.BackupCollectionResponse, error) {
	x, err := s.find(name)
	if err != nil {
		return nil, err
	}
	done, err := x.Collection.Backup(ctx, to)
	if errors.Is(err, fs.ErrExist) {
		err = &engine.Error{Code: engine.InvalidOption, Op: "backup", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return &api.BackupCollectionResponse{Epoch: done.Epoch, Documents: done.Documents, Written: uint64(done.Written), Bytes: done.Bytes}, nil
}

// Merge joins all segments of a collection.
func (s *Set) Merge(ctx context.Context, name string) (*api.DocumentsResponse, error) {
	x, err := s.find(name)
	if err != nil {
		return nil, err
	}
	now, err := x.Collection.Merge(ctx)
	return reply(engine.Change{CollectionInfo: now}, err)
}

// reply is the message of a change.
func reply(c engine.Change, err error) (*api.DocumentsResponse, error) {
	if err != nil {
		return nil, err
	}
	return &api.DocumentsResponse{Epoch: c.State, Documents: c.Documents, Added: c.Added, Deleted: c.Deleted, Missing: c.Missing}, nil
}
