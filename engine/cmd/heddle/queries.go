package main

import (
	"context"
	"errors"
	"io"
	"os"

	"heddle/engine/index/trec"
)

// queryReader reads a query file ahead, so that answering goes on meanwhile and
// neither a slow pipe nor a terminal holds up what is there already.
type queryReader struct {
	ch  chan trec.Topic
	err error // valid when ch is closed
}

// answerFile answers the queries of the file at path, as many at a time as are there,
// at most ahead.
func answerFile(ctx context.Context, path string, format trec.Format, stdin io.Reader, ahead int, answer func(context.Context, []trec.Topic) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the reader when answering fails
	r, err := readQueries(ctx, path, format, stdin, ahead)
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

// readQueries reads queries from path ("-": stdin) in a goroutine, ahead of the
// caller by at most ahead. It ends with the file, or after the next query when
// ctx is done.
func readQueries(ctx context.Context, path string, format trec.Format, stdin io.Reader, ahead int) (*queryReader, error) {
	in, closer := stdin, io.NopCloser(nil).Close
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		in, closer = f, f.Close
	}
	r := &queryReader{ch: make(chan trec.Topic, ahead)}
	go func() {
		defer close(r.ch)
		err := trec.ReadTopics(path, in, format, func(q trec.Topic) bool {
			select {
			case r.ch <- q:
				return true
			case <-ctx.Done():
				return false
			}
		})
		r.err = errors.Join(err, closer())
	}()
	return r, nil
}

// next appends to dst what has been read since, at least one query unless the
// file has ended, and no more than are read ahead.
func (r *queryReader) next(ctx context.Context, dst []trec.Topic) ([]trec.Topic, error) {
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
				return dst, nil // the next call says why
			}
			dst = append(dst, q)
		default:
			return dst, nil
		}
	}
	return dst, nil
}
