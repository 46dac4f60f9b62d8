// Package export writes the contents of an index file in the formats of other programs.
// Package build reads each of them again.
//
//   - ciff: the Common Index File Format, version 1.
//   - pisa: BASE.docs, BASE.freqs, BASE.sizes, BASE.terms and BASE.documents, as package
//     build describes them.
//   - jsonl: one document per line, as a vector of its terms and their frequencies, and its
//     text if the index stores texts.
//
// The formats have no place for the analysis of the terms, and ciff and pisa none for
// texts: a build from an export needs the options of the first build. Impacts are exported
// in the place of frequencies, and positions are left out. A jsonl export has no lengths of documents; the new length
// is the sum of the frequencies.
package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// Format names an output format.
type Format string

const (
	CIFF  Format = "ciff"
	PISA  Format = "pisa"
	JSONL Format = "jsonl"
)

// Formats returns all of them.
func Formats() []Format { return []Format{CIFF, PISA, JSONL} }

// ErrContent is the cause of errors about terms, names and numbers that a format cannot
// hold, for errors.Is.
var ErrContent = errors.New("the format cannot hold this index")

func contentError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrContent, fmt.Sprintf(format, args...))
}

// exporter writes one index to its outputs.
type exporter struct {
	ctx context.Context
	f   *hdl.File
	out []*bufio.Writer

	docs, freqs []uint32 // docIDs and frequencies of the current list
	scratch     []byte
}

// suffixes are the outputs of a format.
func (f Format) suffixes() []string {
	if f == PISA {
		return []string{".docs", ".freqs", ".sizes", ".terms", ".documents"}
	}
	return []string{""}
}

func (x *exporter) export(format Format) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	switch format {
	case CIFF:
		err = x.ciff()
	case PISA:
		err = x.pisa()
	case JSONL:
		err = x.jsonl(batchPostings)
	}
	for _, w := range x.out {
		err = errors.Join(err, w.Flush())
	}
	return err
}

// Write writes f to w, in ciff or jsonl. It ends early with ctx.Err(). Its memory is that
// of the longest list; for jsonl, 4 bytes per document and 256 MiB.
func Write(ctx context.Context, f *hdl.File, format Format, w io.Writer) error {
	if format == PISA {
		return errors.New("pisa is several files, which cannot go to one output")
	}
	return (&exporter{ctx: ctx, f: f, out: []*bufio.Writer{bufio.NewWriter(w)}}).export(format)
}

// Files is Write to the file at path, or for pisa to files whose names start with path. The
// files appear when they are complete. Files that exist are replaced only with force.
func Files(ctx context.Context, f *hdl.File, format Format, path string, force bool) error {
	return files(path, format.suffixes(), force, func(out []*bufio.Writer) error {
		return (&exporter{ctx: ctx, f: f, out: out}).export(format)
	})
}

// File writes a file at path by write, as Files does.
func File(path string, force bool, write func(out *bufio.Writer) error) error {
	return files(path, []string{""}, force, func(out []*bufio.Writer) error {
		return errors.Join(write(out[0]), out[0].Flush())
	})
}

// files writes files whose names are path with suffixes.
func files(path string, suffixes []string, force bool, write func(out []*bufio.Writer) error) (err error) {
	for _, suffix := range suffixes {
		st, err := os.Stat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !st.Mode().IsRegular():
			return fmt.Errorf("%s is not a regular file", path+suffix)
		case st.Size() > 0 && !force:
			return fmt.Errorf("%s: %w: choose another output, or remove it", path+suffix, fs.ErrExist)
		}
	}
	disk := container.OSDisk{}
	dir, err := disk.MkdirTemp(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(dir)) }()
	var files []container.DiskFile
	var out []*bufio.Writer
	for _, suffix := range suffixes {
		file, err := disk.Create(filepath.Join(dir, "x"+suffix))
		if err != nil {
			return errors.Join(err, closeAll(files))
		}
		files = append(files, file)
		out = append(out, bufio.NewWriter(file))
	}
	err = write(out)
	for _, file := range files {
		if err == nil {
			err = file.Sync()
		}
	}
	if err = errors.Join(err, closeAll(files)); err != nil {
		return err
	}
	for _, suffix := range suffixes {
		if err := disk.Rename(filepath.Join(dir, "x"+suffix), path+suffix); err != nil {
			return err
		}
	}
	return disk.SyncDir(filepath.Dir(path))
}

func closeAll(files []container.DiskFile) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// eachList calls do for every list, in the order of terms, with its docIDs and frequencies
// in x.
func (x *exporter) eachList(do func(h plan.Handle) error) error {
	for i := range x.f.Terms() {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		h := plan.Handle(i)
		var err error
		if x.docs, err = x.f.Source().List(h).AppendTo(x.docs[:0]); err != nil {
			return fmt.Errorf("%s: term %q: %w", x.f.Path(), x.f.Term(h), err)
		}
		if x.freqs, err = x.f.Freqs(x.freqs[:0], h); err != nil {
			return err
		}
		if err := do(h); err != nil {
			return err
		}
	}
	return nil
}

// term returns a term for ciff and pisa, which have no empty terms.
func (x *exporter) term(h plan.Handle) (string, error) {
	term := x.f.Term(h)
	if term == "" {
		return "", contentError("its first term is empty")
	}
	return term, nil
}

// checkInt32 refuses a number above the range of ciff.
func checkInt32(n uint64, what string) error {
	if n > math.MaxInt32 {
		return contentError("%s is %d, above 2^31-1", what, n)
	}
	return nil
}
