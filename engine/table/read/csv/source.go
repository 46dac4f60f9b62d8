// Package csv reads tables of CSV files: fields in lines, in several dialects.
package csv

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// MaxRecord is the greatest size of a record of a CSV file, in bytes.
const MaxRecord = 64 << 20

// Types are inferred from the first rows of the first file, up to these limits.
const (
	sampleBytes = 1 << 20
	sampleRows  = 10000
)

// Options say how CSV files are read. Of the zero value every field is the default.
type Options struct {
	// Names of the columns. Without them the first record of each file has the names,
	// which must be the same in all files; a column that has none is called columnN.
	Names []string
	// Comma separates fields: any byte except quote, CR and LF. The default is ','.
	Comma byte
	// Null are fields that stand for a missing value, besides the empty one. They are
	// compared as they are written; but "nan" stands for every spelling of NaN, unless the
	// column is a String. In quotes they are texts in a String column, and so is the empty
	// field.
	Null []string
	// Types are the types of columns by name. The type of an unnamed column is inferred
	// from the first 10,000 rows or 1 MiB: the first of Int, Uint, Decimal128 (integers of
	// up to 38 digits), Float, Timestamp, TimestampNS, Bool (the words true and false) that
	// fits every value there, else String.
	Types map[string]column.Declared
	// Columns are the names of the columns to read, in this order. The default is all.
	Columns []string

	// Invalid is the treatment of rows with texts that are not UTF-8. The default is
	// input.Fail.
	Invalid input.Invalid

	// Advice adds the flags of heddle bitmap build that help to the error of a value that its
	// column cannot hold.
	Advice bool
	// Warn, unless nil, receives a text for each column whose inferred type is Float and
	// rounds an integer, or is String although the values are times. It names file, line and
	// column.
	Warn func(text string)
	// Stdin is the input of the file "-". The default is os.Stdin.
	Stdin io.Reader
	// Memory bounds the batches in progress, in bytes; 0 is 256 MiB. The least bound is
	// 64 KiB per core, and a single record may exceed it.
	Memory uint64

	maxRecord int // MaxRecord, less in tests
	sample    int // sampleBytes, less in tests
	text      int // bytes given to a parser; tests set it, 0 derives it from Memory
}

// source is a pipeline: one goroutine reads and cuts texts behind the ends of records,
// one a core parses them, and Next gives the batches in the order of the files.
type source struct {
	opener  input.Opener
	paths   []string
	opt     Options
	columns columns
	texts   read.Treatment
	total   int64
	size    int // of a text, in bytes

	cancel  context.CancelFunc
	running sync.WaitGroup
	free    chan *chunk
	work    chan *chunk // to the parsers; has room for all chunks
	out     chan *chunk // in the order of the files

	path string // of the last chunk that Next took
	line int    // that the next chunk of it starts with, from 1
	err  error
}

// chunk is a number of records.
type chunk struct {
	path   string
	first  int   // line of the file, from 1, at the start of the file's first chunk; 0 in later chunks
	offset int64 // of text in the file after decompression
	text   []byte
	err    error // of the reader: there is no text, nothing follows

	ready chan struct{} // receives when the text is parsed
	batch read.Batch
	parsed
}

// Open opens CSV files (RFC 4180), compressed or not, "-" being standard input. Text is
// UTF-8, or UTF-16 with a byte order mark. Quotes are as package encoding/csv reads them;
// lines end in LF, CR LF or CR; empty lines are skipped. It reads the start of the first file for names and types,
// and more where a column has no value there. The Source ends with ctx.
func Open(ctx context.Context, paths []string, opt Options) (read.Source, error) {
	opt.Comma = cmp.Or(opt.Comma, ',')
	opt.Memory = cmp.Or(opt.Memory, 256<<20)
	opt.maxRecord = cmp.Or(opt.maxRecord, MaxRecord)
	opt.sample = cmp.Or(opt.sample, sampleBytes)
	if opt.Warn == nil {
		opt.Warn = func(string) {}
	}
	if opt.Stdin == nil {
		opt.Stdin = os.Stdin
	}
	if len(paths) == 0 {
		return nil, errors.New("no CSV file is given")
	}
	if strings.IndexByte("\"\r\n", opt.Comma) >= 0 || opt.Comma >= 0x80 {
		return nil, fmt.Errorf("%q cannot separate fields", opt.Comma)
	}
	for _, p := range paths { // that the last one is missing should not be found hours later
		if p == "-" {
			continue
		}
		if _, err := os.Stat(p); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &source{paths: paths, opt: opt, cancel: cancel, total: read.Sizes(paths), texts: read.Treatment{Mode: opt.Invalid}}
	s.opener.Ctx, s.opener.Stdin = ctx, opt.Stdin
	if err := s.start(ctx); err != nil {
		cancel()
		return nil, err
	}
	return s, nil
}

// start learns names and types, and starts the pipeline.
func (s *source) start(ctx context.Context) error {
	f, err := s.open(s.paths[0])
	if err != nil {
		return err
	}
	if err := s.learn(ctx, f); err != nil {
		return errors.Join(err, f.Close())
	}
	workers := runtime.GOMAXPROCS(0)
	chunks := 2*workers + 1
	// A text of short numbers takes six times its bytes as keys.
	s.size = cmp.Or(s.opt.text, int(min(max(s.opt.Memory/uint64(8*chunks), 4<<10), 1<<20)))
	s.free, s.work, s.out = make(chan *chunk, chunks), make(chan *chunk, chunks), make(chan *chunk, chunks+1)
	for range chunks {
		s.free <- &chunk{ready: make(chan struct{}, 1)}
	}
	s.running.Go(func() { s.read(ctx, f) })
	for range workers {
		s.running.Go(func() {
			var scan scanner
			for c := range s.work {
				c.parsed = s.columns.parse(&c.batch, c.text, &scan)
				c.ready <- struct{}{}
			}
		})
	}
	return nil
}

// learn finds the columns by the start of the first file, and takes the header off it.
func (s *source) learn(ctx context.Context, f *file) (err error) {
	s.columns = columns{comma: s.opt.Comma, advice: s.opt.Advice, names: slices.Clone(s.opt.Names)}
	for _, n := range s.opt.Null {
		s.columns.nulls = append(s.columns.nulls, []byte(n))
		s.columns.noNaN = s.columns.noNaN || strings.EqualFold(n, "nan")
	}
	if len(s.columns.names) == 0 {
		if s.columns.names, err = f.header(s.opt.Comma, s.opt.sample); err != nil {
			return err
		}
	} else if err = f.fill(s.opt.sample); err != nil {
		return err
	}
	c := &s.columns
	chosen, err := read.Choose(c.names, s.opt.Columns)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.opt.Types)) {
		if !slices.Contains(c.names, name) {
			return fmt.Errorf("types: %w", &read.ColumnError{Name: name, Names: c.names})
		}
	}
	c.column = slices.Repeat([]int{-1}, len(c.names))
	for i, field := range chosen {
		c.column[field] = i
	}
	found := c.infer(f)
	var empty []int
	for _, field := range chosen {
		if _, given := s.opt.Types[c.names[field]]; !given && !found[field].seen {
			empty = append(empty, field)
		}
	}
	if len(empty) > 0 {
		open := c.inferText(f, f.whole(), empty, make([]int, len(c.names)), found)
		if open > 0 && (!f.end || len(s.paths) > 1) {
			if err := s.inferLate(ctx, empty, found); err != nil {
				return err
			}
		}
	}
	for _, field := range chosen {
		t, given := s.opt.Types[c.names[field]]
		if !given {
			t.Type = found[field].found()
			if w := found[field].warning(c.names[field]); w != "" {
				s.opt.Warn(w)
			}
		}
		c.fields = append(c.fields, read.Field{Name: c.names[field], Type: t.Type, Scale: t.Scale, Digits: t.Digits, List: t.List})
	}
	return nil
}

// infer finds the types of the fields of the start of a file.
func (c *columns) infer(f *file) []inference {
	found := make([]inference, len(c.names))
	scan := scanner{text: f.whole(), comma: c.comma}
	for rows := 0; rows < sampleRows && scan.skipEmpty(); rows++ {
		for i := 0; ; i++ {
			line := scan.line
			if scan.next() != "" {
				return found // the parser of the text reports the error
			}
			if i < len(found) {
				c.see(&found[i], f, &scan, line)
			}
			if scan.last {
				break
			}
		}
	}
	return found
}

// see shows the current field, which starts in a line of the scanner, to the inference of
// its type.
func (c *columns) see(i *inference, f *file, scan *scanner, line int) {
	if field := trim(scan.field); !c.isNull(column.Float, field, scan.quoted) {
		i.see(field, f.path, f.line+line)
	}
}

// inferLate finds the types of fields that are empty at the start of the first file. It
// reads the files again, until each field has had a value for sampleRows rows.
func (s *source) inferLate(ctx context.Context, fields []int, found []inference) error {
	opener := input.Opener{Ctx: ctx} // apart from the one that reports progress
	rows := make([]int, len(s.columns.names))
	open := len(fields)
	for _, path := range s.paths {
		if input.Size(path) == 0 {
			return nil // it can be read only once
		}
		f, err := openFile(&opener, path)
		if err != nil {
			return nil // the reader of the table reports it
		}
		if len(s.opt.Names) == 0 {
			_, err = f.header(s.opt.Comma, s.opt.sample)
		}
		var text []byte
		for err == nil && open > 0 && ctx.Err() == nil {
			if text, err = f.text(text, s.opt.sample, s.opt.maxRecord); len(text) > 0 {
				open = s.columns.inferText(f, text, fields, rows, found)
				f.line += bytes.Count(text, []byte{'\n'})
			}
		}
		f.Close()
		if open == 0 || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// inferText continues with the records of text, a part of f. It returns the number of
// fields that need more rows.
func (c *columns) inferText(f *file, text []byte, fields, rows []int, found []inference) (open int) {
	scan := scanner{text: text, comma: c.comma}
	for scan.skipEmpty() {
		for i := 0; ; i++ {
			line := scan.line
			if scan.next() != "" {
				return 0 // the parser of the text reports the error
			}
			if slices.Contains(fields, i) && rows[i] < sampleRows {
				c.see(&found[i], f, &scan, line)
				if found[i].seen {
					rows[i]++
				}
			}
			if scan.last {
				break
			}
		}
	}
	for _, i := range fields {
		if rows[i] < sampleRows {
			open++
		}
	}
	return open
}

func (s *source) Fields() []read.Field { return s.columns.fields }

func (s *source) Progress() (done, total int64) { return s.opener.Count(), s.total }

// Next gives the batch of the next chunk, and the chunk the memory of b.
func (s *source) Next(ctx context.Context, b *read.Batch) error {
	for s.err == nil {
		if s.err = ctx.Err(); s.err != nil {
			break
		}
		var c *chunk
		select {
		case c = <-s.out:
		case <-ctx.Done():
			s.err = ctx.Err()
			continue
		}
		if s.err = s.take(ctx, c); s.err != nil {
			break
		}
		*b, c.batch = c.batch, *b
		s.free <- c
		if b.Rows > 0 {
			return nil
		}
	}
	return s.err
}

// take waits for a chunk to be parsed.
func (s *source) take(ctx context.Context, c *chunk) error {
	if c == nil {
		return cmp.Or(s.opener.Ctx.Err(), io.EOF)
	}
	if c.err != nil {
		return c.err
	}
	select {
	case <-c.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.first > 0 {
		s.path, s.line = c.path, c.first
	}
	if c.wrong != nil {
		return s.error(c, c.wrong)
	}
	var first *input.Error
	if c.invalid != nil {
		first = s.error(c, c.invalid)
	}
	s.line += c.lines
	return s.texts.Apply(&c.batch, first)
}

// error gives an error of the current chunk its place.
func (s *source) error(c *chunk, e *fieldError) *input.Error {
	return &input.Error{Path: s.path, Line: s.line + e.line, Offset: c.offset, Reason: e.reason}
}

func (s *source) Invalid() read.InvalidRows { return s.texts.Invalid }

func (s *source) Close() error {
	s.cancel()
	s.running.Wait()
	s.err = cmp.Or(s.err, os.ErrClosed)
	return nil
}
