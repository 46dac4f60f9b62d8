// Package rows answers the predicates of heddle bitmap query and prints the rows.
package rows

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/file/container"
	"heddle/engine/index/trec"
	"heddle/engine/plan"
	"heddle/engine/table/rowset"
)

// Form is the form in which selected rows are printed.
type Form string

// The forms of rows. Counts is the default.
const (
	Counts Form = ""
	IDs    Form = "ids"    // row numbers
	Ranges Form = "ranges" // first and last row of each range of consecutive rows
)

// Writer answers predicates and prints the answers in the order of the predicates. It is
// not safe for concurrent use.
type Writer struct {
	Table     *engine.Table
	Selection engine.Selection // options of all predicates; Output is set by Form and Roaring
	Out       *bufio.Writer
	Log       io.Writer // receives explanations
	// Invalid receives an invalid predicate and the reason. The predicate has no answer. An
	// error of Invalid ends the run.
	Invalid func(q trec.Topic, err error) error
	Form    Form
	Roaring string // file for the rows as a Roaring bitmap; "-" is Out, "" none
	Explain bool
	Choice  string // reason for the backend, in explanations
	JSON    bool

	batch []engine.Selection
	rows  []engine.Rows
}

// maxSelected limits the rows of all selections of one batch, at one bit per row and
// predicate.
const maxSelected = 1 << 29

// Output returns the form in which the engine returns rows.
func (w *Writer) Output() plan.Output {
	if w.Form != Counts || w.Roaring != "" {
		return plan.OutputBits
	}
	return plan.OutputCounts
}

// Answer executes predicates in batches. With explanations each predicate is its own
// batch, because a batch has one time for all its predicates.
func (w *Writer) Answer(ctx context.Context, qs []trec.Topic) error {
	info, err := w.Table.Info()
	if err != nil {
		return err
	}
	size := len(qs)
	w.Selection.Output = w.Output()
	if w.Selection.Output == plan.OutputBits {
		size = int(maxSelected / (uint64(info.Rows) + 1))
	}
	if w.Explain {
		size = 1
	}
	for batch := range slices.Chunk(qs, max(size, 1)) {
		if err := w.answerBatch(ctx, &info, batch); err != nil {
			return err
		}
	}
	return w.Out.Flush()
}

func (w *Writer) answerBatch(ctx context.Context, info *engine.TableInfo, qs []trec.Topic) error {
	w.batch = w.batch[:0]
	all := qs
	qs = nil
	for _, q := range all {
		s, err := w.Selection, q.Err
		if err == nil {
			s.Prepared, err = w.Table.Prepare(ctx, engine.Selection{Where: q.Text})
		}
		if err == nil {
			w.batch, qs = append(w.batch, s), append(qs, q)
		} else if err = w.Invalid(q, err); err != nil {
			return err
		}
	}
	if len(qs) == 0 {
		return nil
	}
	w.rows = slices.Grow(w.rows[:0], len(qs))[:len(qs)]
	err := w.Table.SelectAll(ctx, w.batch, func(first int, rows []engine.Rows) error {
		for i, r := range rows {
			w.rows[first+i] = engine.Rows{Count: r.Count, Bits: slices.Clone(r.Bits)}
		}
		return nil
	})
	if errors.Is(err, plan.ErrUnsupported) && w.Selection.Strategy != plan.StrategyAuto && !slices.Contains(info.Strategies, w.Selection.Strategy) {
		return fmt.Errorf("backend %s has no strategy %s, only %v (choose another --backend or --strategy): %w",
			info.Resident[0].Info.Kind, w.Selection.Strategy, info.Strategies, plan.ErrUnsupported)
	} else if err != nil {
		return err
	}
	for i, q := range qs {
		if err := w.write(ctx, info, i, q); err != nil {
			return err
		}
	}
	return nil
}

// object is an answer in JSON, without its member rows behind count: row numbers, or pairs of them.
// Its names are part of the command line's contract.
type object struct {
	Query   string       `json:"query"`
	Where   string       `json:"where"`
	Count   uint32       `json:"count"`
	Explain *Explanation `json:"explain,omitempty"`
}

// write prints answer i of the batch.
func (w *Writer) write(ctx context.Context, info *engine.TableInfo, i int, q trec.Topic) error {
	n := uint32(w.rows[i].Count)
	var why *Explanation
	if w.Explain { // run again, because the first use of a vector is slower
		var e engine.TableExplanation
		s := w.Selection
		s.Where, s.Explain = q.Text, &e
		found, err := w.Table.Select(ctx, s)
		if err != nil {
			return err
		}
		found.Release()
		if !w.JSON {
			text := e.String()
			if w.Choice != "" {
				text += "\n  choice: " + w.Choice
			}
			if _, err := fmt.Fprintf(w.Log, "%s: %s\n", q.ID, text); err != nil {
				return err
			}
		}
		why = newExplanation(info, &e)
		why.Choice = w.Choice
	}
	if w.Roaring != "" {
		if err := w.writeRoaring(i); err != nil {
			return err
		}
	}
	switch {
	case w.JSON:
		return w.writeJSON(object{Query: q.ID, Where: q.Text, Count: n, Explain: why}, w.rows[i].Bits)
	case w.Roaring != "":
		return nil
	case w.Form == IDs:
		w.lines(q.ID, w.rows[i].Bits)
	case w.Form == Ranges:
		for first, last := range w.rows[i].Ranges() {
			w.line(q.ID, first, last)
		}
	default:
		w.line(q.ID, n)
	}
	return nil
}

// line prints an ID and numbers. Flush returns the errors of Out.
func (w *Writer) line(id string, numbers ...uint32) {
	w.Out.WriteString(terminal.Field(id))
	var b [16]byte
	for _, n := range numbers {
		w.Out.Write(strconv.AppendUint(append(b[:0], '\t'), uint64(n), 10))
	}
	w.Out.WriteByte('\n')
}

// lines prints a line with an ID and the number of each row of a set.
func (w *Writer) lines(id string, set []uint64) {
	start := append([]byte(terminal.Field(id)), '\t')
	line := start
	for first, last := range rowset.Ranges(set) {
		for row := uint64(first); row <= uint64(last); row++ {
			line = append(strconv.AppendUint(line[:len(start)], row, 10), '\n')
			w.Out.Write(line)
		}
	}
}

// writeJSON prints an answer. Its rows go to Out one by one: an encoder would hold them in memory.
func (w *Writer) writeJSON(answer object, set []uint64) error {
	if w.Form == Counts {
		return terminal.WriteJSON(w.Out, answer)
	}
	var b bytes.Buffer
	why := answer.Explain
	answer.Explain = nil
	if err := terminal.WriteJSON(&b, answer); err != nil {
		return err
	}
	w.Out.Write(bytes.TrimSuffix(b.Bytes(), []byte("}\n")))
	w.Out.WriteString(`,"rows":[`)
	var item []byte
	separator := ""
	for first, last := range rowset.Ranges(set) {
		if w.Form == Ranges {
			w.Out.Write(fmt.Appendf(item[:0], "%s[%d,%d]", separator, first, last))
			separator = ","
			continue
		}
		for row := uint64(first); row <= uint64(last); row++ {
			item = strconv.AppendUint(append(item[:0], separator...), row, 10)
			separator = ","
			w.Out.Write(item)
		}
	}
	w.Out.WriteByte(']')
	if why != nil {
		b.Reset()
		if err := terminal.WriteJSON(&b, why); err != nil {
			return err
		}
		w.Out.WriteString(`,"explain":`)
		w.Out.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	}
	_, err := w.Out.WriteString("}\n")
	return err
}

// writeRoaring writes the rows of answer i to the file Roaring. The file gets its name
// when it is complete, and the permissions of the file that it replaces.
func (w *Writer) writeRoaring(i int) error {
	bitmap := rowset.ToRoaring(w.rows[i].Bits)
	if w.Roaring == "-" {
		_, err := bitmap.WriteTo(w.Out)
		return err
	}
	f, err := os.OpenFile(fmt.Sprintf("%s.tmp%d", w.Roaring, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = bitmap.WriteTo(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = container.OSDisk{}.Rename(f.Name(), w.Roaring)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return container.OSDisk{}.SyncDir(filepath.Dir(w.Roaring))
}
