// Package topics reads query files ahead of the queries' execution.
package topics

import (
	"context"
	"errors"
	"io"
	"os"

	"heddle/engine/file/input"
	"heddle/engine/index/trec"
)

// File is a query file.
type File struct {
	Path    string // "-" is Stdin
	Reading trec.Reading
	Stdin   io.Reader
}

// Each calls answer with consecutive queries of the file: with all queries that have
// been read since the last call, at least one and at most ahead. Reading goes on while
// answer runs, so that a slow pipe does not delay queries that have arrived. Each
// returns the first error of the file, of answer, or of ctx.
func (f File) Each(ctx context.Context, ahead int, answer func(context.Context, []trec.Topic) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the reader if answer fails
	r, err := f.read(ctx, ahead)
	if err != nil {
		return err
	}
	var qs []trec.Topic
	for {
		if qs, err = r.next(ctx, qs[:0]); err != nil || len(qs) == 0 {
			return err
		}
		if err := answer(ctx, qs); err != nil {
			return err
		}
	}
}

// reader is the receiving end of the goroutine that reads a file.
type reader struct {
	ch  chan trec.Topic
	err error // valid after ch is closed
}

// read starts a goroutine that reads at most ahead queries in advance. The goroutine
// ends with the file, or after the next query once ctx is done.
func (f File) read(ctx context.Context, ahead int) (*reader, error) {
	in, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	r := &reader{ch: make(chan trec.Topic, ahead)}
	go func() {
		defer close(r.ch)
		err := trec.ReadTopics(f.Path, in, f.Reading, func(q trec.Topic) bool {
			select {
			case r.ch <- q:
				return true
			case <-ctx.Done():
				return false
			}
		})
		r.err = errors.Join(err, in.Close())
	}()
	return r, nil
}

// open opens the file. A regular file may be compressed. A pipe is read as it is: a look at
// its format would wait for more than the first query.
func (f File) open(ctx context.Context) (io.ReadCloser, error) {
	if f.Path == "-" {
		return io.NopCloser(f.Stdin), nil
	}
	if st, err := os.Stat(f.Path); err == nil && st.Mode().IsRegular() {
		return (&input.Opener{Ctx: ctx}).Open(f.Path)
	}
	return input.File(ctx, f.Path)
}

// next appends the queries that wait in the channel to dst. It waits for the first one;
// no query means the end of the file.
func (r *reader) next(ctx context.Context, dst []trec.Topic) ([]trec.Topic, error) {
	select {
	case q, ok := <-r.ch:
		if !ok {
			return dst, r.err
		}
		dst = append(dst, q)
	case <-ctx.Done():
		return dst, ctx.Err()
	}
	for len(dst) < cap(r.ch) {
		select {
		case q, ok := <-r.ch:
			if !ok {
				return dst, nil // the next call returns the error
			}
			dst = append(dst, q)
		default:
			return dst, nil
		}
	}
	return dst, nil
}
