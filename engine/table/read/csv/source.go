// Package csv reads tables of CSV files: fields in lines, in several dialects.
package csv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
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
	Dialect
	// Names of the columns. Default: nil, the first record of each file has the names, which must be the same
	// in all files, without blanks at their ends outside of quotes; a column that has none is called columnN, and an equal name gets a number.
	Names []string
	// Header tells whether there is a header. Default: AutoHeader, the records show it.
	Header Header
	// Ragged is the treatment of records with a wrong number of fields. Default: Fail.
	Ragged Ragged
	// Null are fields that stand for a missing value, besides the empty one. They are
	// compared as they are written; but "nan" stands for every spelling of NaN, unless the
	// column is a String. In quotes they are texts in a String column, and so is the empty
	// field.
	Null []string
	// Types are the types of columns by name. The type of an unnamed column is inferred
	// from the first 10,000 rows or 1 MiB: the first of Int, Uint, Decimal128 (integers of
	// up to 38 digits), Float, Timestamp, TimestampNS, Bool (the words true and false) that
	// fits every value there, else String. Integers of which one begins with a zero are codes, and String.
	Types map[string]column.Declared
	// Columns are the names of the columns to read, in this order. The default is all.
	Columns []string

	// Invalid is the treatment of rows with values that are none of their columns. input.Fail stops at the first
	// one. input.Skip leaves the rows out. input.Replace puts U+FFFD in the place of bytes that are not UTF-8, and
	// input.Truncate also cuts texts of more than hdb.MaxStringLen bytes; both stop at other values. Default:
	// input.Fail.
	Invalid input.Invalid

	// Advice adds the flags of heddle bitmap build that help to the error of a value that its
	// column cannot hold.
	Advice bool
	// Warn, unless nil, receives a text for each column whose inferred type is Float and
	// rounds an integer, or is String although the values are times. It names file, line and
	// column. It also receives the number of integers that a Float or Float32 of Types rounds, properties of the dialect that the
	// file has shown, repeated headers, equal names, and the number of records that Ragged leaves out.
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
	opener          input.Opener
	paths           []string
	opt             Options
	columns         columns
	header          bool     // each file has one
	fileNames       []string // names of the columns in the header
	texts           read.Treatment
	headers, uneven int       // lines that repeat the header, and records that are left out, so far
	firstUneven     string    // its place
	rounded         []rounded // by column, of all files so far; first is a place and a value
	total           int64
	size            int // size of a text, in bytes

	cancel  context.CancelFunc
	running sync.WaitGroup
	free    chan *chunk
	work    chan *chunk // chunks for the parsers; has room for all chunks
	out     chan *chunk // chunks in the order of the files

	path string // path of the file of the last chunk that Next took
	line int    // number of the first line of its next chunk, from 1
	err  error
}

// chunk is a number of records.
type chunk struct {
	path   string
	first  int   // line of the file, from 1, at the start of the file's first chunk; 0 in later chunks
	offset int64 // offset of text in the file, in bytes after decompression
	text   []byte
	err    error // error of the reader: there is no text, and nothing follows

	ready chan struct{} // receives when the text is parsed
	batch read.Batch
	parsed
}

// Ragged is the treatment of records with a wrong number of fields.
type Ragged uint8

const (
	// Fail ends with an error at the first one.
	Fail Ragged = iota
	// Pad takes fields that a record does not have as missing values, and drops empty fields behind the last
	// column. Other fields there are an error.
	Pad
	// Skip leaves the records out. A warning counts them.
	Skip
)

// Open opens CSV files (RFC 4180), compressed or not, "-" being standard input. Text is
// UTF-8, or UTF-16 with a byte order mark. Quotes are as package encoding/csv reads them;
// lines end in LF, CR LF or CR; empty lines are skipped, but a file with one column has a missing value there. It reads the start of the first file for names and types,
// and more where a column has no value there. The Source ends with ctx.
func Open(ctx context.Context, paths []string, opt Options) (read.Source, error) {
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
	var err error
	if opt.Dialect, err = opt.Dialect.complete(); err != nil {
		return nil, err
	}
	for _, p := range paths { // check all files first: a missing file should not be found after hours
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
		if s.opener.Ctx.Err() == nil {
			s.ended()
		}
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
	s.note(c)
	s.line += c.lines
	return s.texts.Apply(&c.batch, first)
}

// note warns of the records of a chunk that are no rows.
func (s *source) note(c *chunk) {
	for _, line := range c.headers {
		if s.headers++; s.headers == 1 {
			what := "the header again, left out"
			if !s.columns.dropHeaders {
				what = "the header again, read as a row because all columns are strings"
			}
			s.opt.Warn(fmt.Sprintf("%s:%d: %s", s.path, s.line+line, what))
		}
	}
	for k, r := range c.parsed.rounded {
		if s.rounded == nil {
			s.rounded = make([]rounded, len(s.columns.fields))
		}
		all := &s.rounded[k]
		if all.count == 0 && r.count > 0 {
			all.first = fmt.Sprintf("%s:%d: %.60q", s.path, s.line+r.line, r.first)
		}
		all.count += r.count
	}
	for _, line := range c.parsed.uneven {
		if s.uneven++; s.uneven == 1 {
			s.firstUneven = fmt.Sprintf("%s:%d", s.path, s.line+line)
		}
	}
}

// ended warns of the records of all files that are no rows.
func (s *source) ended() {
	if s.headers > 1 {
		s.opt.Warn(fmt.Sprintf("lines that repeat the header: %d", s.headers))
	}
	for k, r := range s.rounded {
		f := s.columns.fields[k]
		switch {
		case r.count == 0:
		case isInts(f.Type):
			s.opt.Warn(fmt.Sprintf("column %q: integers that begin with a zero, as codes do, and lose it: %d; the first: %s (--type %s=string keeps it)", f.Name, r.count, r.first, f.Name))
		default:
			s.opt.Warn(fmt.Sprintf("column %q: integers that the type %v rounds: %d; the first: %s", f.Name, f.Type, r.count, r.first))
		}
	}
	if s.uneven > 0 {
		s.opt.Warn(fmt.Sprintf("records with a wrong number of fields, left out: %d; the first: %s", s.uneven, s.firstUneven))
	}
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
