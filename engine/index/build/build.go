package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build/inverted"
	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
)

// Build reads the inputs in order and writes the index file out. It replaces an existing
// file at the end, and refuses at the start to replace a file of another program. After an error, or when ctx ends, nothing remains and an existing file
// is unchanged.
//
// An error in the content of an input is an *input.Error with its place, and errors.Is
// finds input.ErrCorrupt in it. Further errors come from the operating system, from the
// context, or from a limit of the index (hdl.ErrInput).
//
// Concurrent calls are independent if they write different files.
func Build(ctx context.Context, out string, inputs []string, opt Options) (Summary, error) {
	if len(inputs) == 0 {
		return Summary{}, errors.New("no input")
	}
	opt = opt.complete(out)
	inputs, err := expand(inputs)
	if err != nil {
		return Summary{}, err
	}
	analyzer, err := analyze.New(analyze.Settings{Rules: opt.Rules, Tokens: opt.Tokens, CJK: opt.CJK, Fold: opt.Fold, Stemmer: opt.Stem, StopWords: opt.StopWords})
	if err != nil {
		return Summary{}, err
	}
	if _, err := ParseFormat(string(opt.Format)); err != nil {
		return Summary{}, err
	}
	if _, err := input.ParseInvalid(string(opt.Invalid)); err != nil {
		return Summary{}, err
	}
	if opt.Quantised && opt.Impacts == 0 {
		return Summary{}, errors.New("quantised impacts need their size: impacts of 8 or 16 bits")
	}
	if len(opt.Fields) > 0 {
		if len(opt.Text) > 0 {
			return Summary{}, errors.New("members of the text and fields: the fields are the text")
		}
		opt.Text = opt.Fields
	}
	for _, path := range append(opt.Text[:len(opt.Text):len(opt.Text)], cmp.Or(opt.ID, "id")) {
		if slices.Contains(strings.Split(path, "."), "") || len(opt.Text) > 1 && path == "*" {
			return Summary{}, fmt.Errorf("%q names no member of JSON lines: give names, paths such as a.b, or * alone", path)
		}
	}
	if err := opt.Scoring.Validate(); err != nil {
		return Summary{}, err
	}
	if err := notInput(out, inputs); err != nil {
		return Summary{}, err
	}
	if err := container.CheckTarget(out); opt.Create == nil && err != nil && !(opt.Force && errors.Is(err, container.ErrForeign)) {
		return Summary{}, err
	}
	// A trial Writer refuses unsuitable options before the inputs are read.
	trial, err := hdl.Create(out, opt.meta(analyzer, "", 0, (&builder{}).impacts(&opt)))
	if err != nil {
		return Summary{}, err
	}
	if err := trial.Abort(); err != nil {
		return Summary{}, err
	}
	return build(ctx, out, inputs, opt, analyzer)
}

// notInput refuses a target that is one of the inputs.
func notInput(out string, inputs []string) error {
	old, err := os.Stat(out)
	if err != nil {
		return nil // nothing exists there
	}
	for _, in := range inputs {
		for _, path := range append(inverted.Files(in), in) {
			if st, err := os.Stat(path); err == nil && os.SameFile(st, old) {
				return fmt.Errorf("%s is an input, too", out)
			}
		}
	}
	return nil
}

func build(ctx context.Context, out string, inputs []string, opt Options, analyzer *analyze.Analyzer) (sum Summary, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, _, limit := opt.chunkLimits()
	b, err := newBuilder(ctx, opt.TempDir, limit, opt.stores())
	if err != nil {
		return Summary{}, err
	}
	b.positions, b.fields = opt.Positions, hdl.SortFields(opt.Fields)
	b.filled = make([]bool, len(b.fields))
	defer func() { err = errors.Join(err, b.close()) }()

	files := &source.Opener{Opener: input.Opener{Ctx: ctx, Stdin: opt.Stdin}, MaxDocument: opt.maxDocument}
	pisa := &inverted.PISA{To: b, Files: files}
	defer func() { err = errors.Join(err, pisa.Close()) }()
	total := totalSize(inputs)
	b.tick = progress(func() {
		if opt.Progress != nil {
			opt.Progress(files.Count(), total, b.docs)
		}
	})
	if err := readInputs(b, files, pisa, inputs, &opt, analyzer); err != nil {
		return Summary{}, err
	}
	if err := b.sum.Invalid.check(b.records, opt.MaxInvalid); err != nil {
		return Summary{}, err
	}
	if opt.Documents > 0 && b.docs != opt.Documents {
		return Summary{}, fmt.Errorf("the inputs have %d documents, their attribute table has %d rows: row i must be document i", b.docs, opt.Documents)
	}
	b.tick(true)

	if b.kind == ofVectors {
		if analyzer, err = analyze.New(analyze.Settings{Tokens: analyze.TokensSpaces}); err != nil {
			return Summary{}, err
		}
	}
	impacts := b.impacts(&opt)
	w, err := b.create(out, opt.meta(analyzer, b.format, uint32(b.docs), impacts), &opt)
	if err != nil {
		return Summary{}, err
	}
	if err := errors.Join(b.settle(), b.findDuplicates()); err != nil {
		return Summary{}, errors.Join(err, w.Abort())
	}
	if err := b.write(w, impacts, &opt); err != nil {
		return Summary{}, errors.Join(err, w.Abort())
	}
	b.tick(true)
	if err := w.Commit(); err != nil {
		return Summary{}, err
	}
	sum = b.sum
	sum.Documents, sum.ReadBytes, sum.LeftOut = b.docs, files.Count(), leftOut(b.left)
	sum.Warnings = append(sum.Warnings, b.emptyFields(sum.LeftOut)...)
	if opt.Create == nil {
		st, err := os.Stat(out)
		if err != nil {
			return Summary{}, err
		}
		sum.FileBytes = st.Size()
	}
	return sum, nil
}

// emptyFields are warnings of fields of TREC without terms, such as a misspelt one or DOCNO, which is a name.
func (b *builder) emptyFields(left []LeftOut) (warnings []string) {
	if b.docs == 0 || !strings.Contains(b.format, string(TREC)) {
		return nil
	}
	var texts []string
	for f, name := range b.fields {
		if b.filled[f] {
			texts = append(texts, name)
		}
	}
	for _, l := range left {
		texts = append(texts, l.Member)
	}
	for f, name := range b.fields {
		if !b.filled[f] {
			warnings = append(warnings, fmt.Sprintf("field %s is empty in all documents; the elements with texts are %s", name, strings.Join(texts[:min(len(texts), mostElements)], ", ")))
		}
	}
	return warnings
}

// mostElements bounds the elements that a warning names.
const mostElements = 20

// sum is the length of a document in all fields.
func sum(lengths []uint32) (all uint32) {
	for _, n := range lengths {
		all += min(n, math.MaxUint32-all)
	}
	return all
}

// create starts the output.
func (b *builder) create(out string, meta hdl.Meta, opt *Options) (Output, error) {
	if opt.Create == nil {
		w, err := hdl.CreateOn(cmp.Or[container.Disk](opt.Disk, container.OSDisk{}), out, meta)
		if err != nil || opt.Renumber != RenumberRandom || meta.Docs == 0 {
			return w, err
		}
		r, err := renumber(w, meta.Docs, b.dir)
		if err != nil {
			return nil, errors.Join(err, w.Abort())
		}
		return r, nil
	}
	return opt.Create(out, meta, func(f func(length uint32) error) error {
		return b.eachDocument(func(_ []byte, lengths []uint32) error { return f(sum(lengths)) })
	})
}

// expand replaces each folder among the inputs by its files (input.Expand), without files of
// heddle and all but the first file of a pisa collection.
func expand(inputs []string) ([]string, error) {
	return input.Expand(inputs, func(path string) bool {
		own := slices.Contains([]string{".hdl", ".hdb"}, filepath.Ext(input.TrimSuffix(path)))
		return !own && !inverted.Accompanies(path)
	})
}

// totalSize is the size of all inputs in bytes, 0 if one of them has none.
func totalSize(inputs []string) (total int64) {
	for _, in := range inputs {
		n := int64(0)
		for _, path := range inverted.Files(in) {
			n += input.Size(path)
		}
		if n == 0 {
			return 0
		}
		total += n
	}
	return total
}
