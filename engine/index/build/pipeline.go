package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build/inverted"
	"heddle/engine/index/build/records"
	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
)

// item is one of four inputs of the builder, in the order of the input files.
type item struct {
	chunk  *chunk         // its ready receives when it has been analysed
	ciff   *source.Reader // the receiver closes it
	triple string         // base name of a PISA triple
	err    error          // error of the reader; nothing follows it
}

// readInputs runs the pipeline: one goroutine reads and cuts, opt.Workers
// analyse, and the caller's feeds the builder. When it returns, all of them have
// ended. The first error in the order of the inputs wins, but a fault in a list that
// stays in its file shows at the merge.
func readInputs(b *builder, files *source.Opener, pisa *inverted.PISA, inputs []string, opt *Options, analyzer *analyze.Analyzer) error {
	set := analyzer.Settings()
	fields := records.NewFields(opt.Text, opt.ID, opt.Attributes)
	plain := !set.Fold && set.Stemmer == analyze.StemNone && len(set.StopWords) == 0
	ctx, cancel := context.WithCancel(files.Ctx)
	size, number, _ := opt.chunkLimits()
	r := &reader{
		ctx: ctx, files: files, format: opt.Format, size: size, source: opt.Store == hdl.StoreSource, id: opt.ID,
		free: make(chan *chunk, number), work: make(chan *chunk, number), out: make(chan item, number),
	}
	if len(opt.Fields) > 0 {
		r.fields = fields
	}
	for range number {
		r.free <- &chunk{ready: make(chan struct{}, 1), filled: make([]bool, len(b.fields))}
	}
	var running sync.WaitGroup
	defer func() {
		cancel()
		running.Wait()
		for it := range r.out { // left after an error
			if it.ciff != nil {
				it.ciff.Close()
			}
		}
	}()
	running.Go(func() { r.read(inputs) })
	for range opt.Workers {
		running.Go(func() {
			w := worker{doc: records.Document{Fields: fields}, words: analyzer.Documents(), invalid: opt.Invalid, plain: plain, impacts: opt.Impacts > 0, store: opt.Store}
			w.tally.Positions = opt.Positions
			w.lengths = make([]uint32, max(len(b.fields), 1))
			for _, name := range opt.Fields {
				w.fields = append(w.fields, byte(slices.Index(b.fields, name)))
			}
			for c := range r.work {
				w.analyse(ctx, c)
				c.ready <- struct{}{}
			}
		})
	}
	for it := range r.out {
		if err := b.take(ctx, pisa, it); err != nil {
			return err
		}
		if it.chunk != nil {
			r.free <- it.chunk
		}
		b.tick(false)
	}
	b.format = strings.Join(r.formats, "+")
	b.sum.Warnings = append(b.sum.Warnings, r.warnings...)
	return ctx.Err() // the reader does not report the end of a context
}

func (b *builder) take(ctx context.Context, pisa *inverted.PISA, it item) error {
	switch {
	case it.err != nil:
		return it.err
	case it.ciff != nil:
		defer it.ciff.Close()
		return inverted.CIFF(b, it.ciff)
	case it.triple != "":
		return pisa.Add(it.triple)
	}
	select {
	case <-it.chunk.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if it.chunk.err != nil {
		return it.chunk.err
	}
	return b.addChunk(it.chunk)
}

// minRecord bounds the records of a chunk, in bytes of its text each: they take
// memory too.
const minRecord = 32

// reader opens the inputs and cuts them into chunks.
type reader struct {
	ctx    context.Context
	files  *source.Opener
	format Format
	size   int             // size of the text of a chunk, in bytes
	source bool            // JSON objects are stored
	fields *records.Fields // of an index with fields; nil: it has none
	id     string          // Options.ID

	free chan *chunk // empty chunks
	work chan *chunk // chunks for the workers; has room for all chunks
	out  chan item   // results for the builder

	chunk   *chunk   // the chunk that is being filled
	formats []string // formats so far, sorted; readable once out is closed

	warnings []string // readable once out is closed
}

// read reads all inputs, then closes work and out.
func (r *reader) read(inputs []string) {
	defer close(r.out)
	defer close(r.work)
	for _, path := range inputs {
		if err := r.input(path); err != nil {
			r.flush()
			r.send(item{err: err})
			return
		}
	}
	r.flush()
}

// send reports whether the builder will get it.
func (r *reader) send(it item) bool {
	select {
	case r.out <- it:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// flush hands the chunk over.
func (r *reader) flush() {
	if c := r.chunk; c != nil {
		r.chunk = nil
		r.work <- c
		r.send(item{chunk: c})
	}
}

func (r *reader) input(path string) error {
	if base, ok := inverted.Triple(path); r.format == PISA || r.format == Auto && ok {
		r.met(PISA)
		r.flush()
		r.send(item{triple: base})
		return nil
	}
	s, err := r.files.Open(path)
	if err != nil {
		return err
	}
	format, err := prepare(s, r.format)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	r.met(format)
	if r.fields != nil && !slices.Contains([]Format{JSONL, Text, TREC, CIFF}, format) {
		return errors.Join(fmt.Errorf("%s: %s, which has no fields: JSON lines, text and TREC have them", path, format), s.Close())
	}
	if r.source && format != JSONL && format != CIFF {
		return errors.Join(fmt.Errorf("%s: %s, which has no JSON objects that could be stored", path, format), s.Close())
	}
	if format == CIFF {
		r.flush()
		if !r.send(item{ciff: s}) {
			s.Close()
		}
		return nil
	}
	defer s.Close()
	in := &records.Input{Reader: s}
	defer func() {
		if in.Binary > 0 {
			r.warnings = append(r.warnings, fmt.Sprintf("%s: %s that are no text, such as images, left out", path, input.Plural(uint64(in.Binary), "WARC record")))
		}
	}()
	of := &origin{path: path, format: textFormats[format], lines: format == Text, json: format == JSONL, utf16: s.UTF16}
	if r.fields != nil && format == TREC {
		of.format = r.fields.Elements()
	}
	return r.cut(in, of)
}

// met notes the format of an input.
func (r *reader) met(f Format) {
	if i, found := slices.BinarySearch(r.formats, string(f)); !found {
		r.formats = slices.Insert(r.formats, i, string(f))
	}
}

// cut puts the records of s into chunks.
func (r *reader) cut(s *records.Input, in *origin) error {
	for first := true; ; first = false {
		if r.chunk == nil {
			select {
			case r.chunk = <-r.free:
				r.chunk.reset(r.size)
			case <-r.ctx.Done():
				return r.ctx.Err()
			}
		}
		c := r.chunk
		text, at, err := in.format.Cut(s, c.text)
		if err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if first {
			in.tabs = bytes.IndexByte(text[len(c.text):], '\t') >= 0
			if in.lines && r.fields != nil {
				header := false
				if in.format, header, err = r.fields.Columns(text[len(c.text):], r.id); err != nil {
					return at.Error(in.path, err.Error())
				}
				if header {
					continue
				}
			}
		}
		c.text = text
		c.records = append(c.records, record{end: len(text), at: at, input: in})
		if len(c.text) >= r.size || len(c.records) >= r.size/minRecord {
			r.flush()
		}
	}
}
