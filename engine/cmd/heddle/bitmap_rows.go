package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"heddle/engine"
	"heddle/engine/index/trec"
	"heddle/engine/plan"
	"heddle/engine/table/rowset"
)

// rowWriter answers predicates and prints the answers.
type rowWriter struct {
	o   *bitmapQueryOptions
	t   *engine.Table
	opt engine.TableOptions
	out *bufio.Writer
	log io.Writer

	batch []*engine.Prepared
	rows  plan.Rows
	ids   []uint32
}

// answer answers predicates in batches, or one at a time if each is to be explained,
// because a batch has one time for all of them.
func (w *rowWriter) answer(ctx context.Context, qs []trec.Topic) error {
	size := len(qs)
	if w.o.explain {
		size = 1
	} else if w.opt.Output == plan.OutputBits {
		size = int(mostSelected / (uint64(w.t.Rows()) + 1))
	}
	for batch := range slices.Chunk(qs, max(size, 1)) {
		if err := w.answerBatch(ctx, batch); err != nil {
			return err
		}
	}
	return w.out.Flush()
}

// mostSelected bounds the rows of the selections of a batch, which are bits in memory.
const mostSelected = 1 << 29

func (w *rowWriter) answerBatch(ctx context.Context, qs []trec.Topic) error {
	w.batch = w.batch[:0]
	for _, q := range qs {
		p, err := w.t.Prepare(q.Text)
		if err != nil {
			return w.wrong(q, err)
		}
		w.batch = append(w.batch, p)
	}
	err := w.t.SelectPrepared(ctx, w.batch, w.opt, &w.rows)
	if has := w.t.Strategies(); errors.Is(err, plan.ErrUnsupported) && w.opt.Strategy != plan.StrategyAuto && !slices.Contains(has, w.opt.Strategy) {
		return usageError{fmt.Errorf("backend %s has no strategy %s, only %v: take another --backend", w.t.Backend().Kind, w.opt.Strategy, has)}
	} else if err != nil {
		return err
	}
	for i, q := range qs {
		if err := w.write(ctx, i, q); err != nil {
			return err
		}
	}
	return nil
}

// wrong is an error about q: one of usage, or of the file that it stands in.
func (w *rowWriter) wrong(q trec.Topic, err error) error {
	if w.o.predicates == "" {
		return usageError{err}
	}
	return &trec.Error{Path: w.o.predicates, Line: q.Line, Err: err}
}

// rowAnswer is an answer in JSON; its names are part of the contract.
type rowAnswer struct {
	Query   string    `json:"query"`
	Where   string    `json:"where"`
	Count   uint32    `json:"count"`
	Rows    any       `json:"rows,omitempty"` // numbers, or pairs of them
	Explain *rowsPlan `json:"explain,omitempty"`
}

// write prints answer i of the batch.
func (w *rowWriter) write(ctx context.Context, i int, q trec.Topic) error {
	n := w.rows.Counts[i]
	var plan *rowsPlan
	if w.o.explain { // it runs again: first uses are slower
		e, err := w.t.Explain(ctx, q.Text, w.opt)
		if err != nil {
			return err
		}
		if !w.o.json {
			if _, err := fmt.Fprintf(w.log, "%s: %s\n", q.ID, e); err != nil {
				return err
			}
		}
		plan = explainRows(&e)
	}
	if w.o.roaring != "" {
		if err := w.writeRoaring(i); err != nil {
			return err
		}
	}
	switch {
	case w.o.json:
		answer := rowAnswer{Query: q.ID, Where: q.Text, Count: n, Explain: plan}
		switch w.o.rows {
		case rowIDs:
			w.ids = rowset.AppendIDs(w.ids[:0], w.rows.Selection(i))
			answer.Rows = append([]uint32{}, w.ids...)
		case rowRanges:
			ranges := [][2]uint32{}
			for first, last := range rowset.Ranges(w.rows.Selection(i)) {
				ranges = append(ranges, [2]uint32{first, last})
			}
			answer.Rows = ranges
		}
		return writeJSON(w.out, answer)
	case w.o.roaring != "":
		return nil
	case w.o.rows == rowIDs:
		w.ids = rowset.AppendIDs(w.ids[:0], w.rows.Selection(i))
		for _, row := range w.ids {
			w.line(q.ID, row)
		}
	case w.o.rows == rowRanges:
		for first, last := range rowset.Ranges(w.rows.Selection(i)) {
			w.line(q.ID, first, last)
		}
	default:
		w.line(q.ID, n)
	}
	return nil
}

// line prints an ID and numbers. The writer keeps its errors until it is flushed.
func (w *rowWriter) line(id string, numbers ...uint32) {
	w.out.WriteString(id)
	var b [16]byte
	for _, n := range numbers {
		w.out.Write(strconv.AppendUint(append(b[:0], '\t'), uint64(n), 10))
	}
	w.out.WriteByte('\n')
}

// writeRoaring writes the rows of answer i to the file that was asked for, which gets
// its name when it is complete.
func (w *rowWriter) writeRoaring(i int) error {
	bitmap := rowset.ToRoaring(w.rows.Selection(i))
	if w.o.roaring == "-" {
		_, err := bitmap.WriteTo(w.out)
		return err
	}
	f, err := os.OpenFile(fmt.Sprintf("%s.tmp%d", w.o.roaring, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = bitmap.WriteTo(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), w.o.roaring)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
