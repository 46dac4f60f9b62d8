package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/index/export"
)

type indexExportOptions struct {
	onePath
	format string
	out    string
	force  bool
}

func newIndexExport(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "export (X.hdl | DIR) --format FORMAT [-o OUTPUT]",
		Short: "Write an index for other programs",
		Long: `Export writes the documents, terms and frequencies of an index in a format that other
programs and index build read:

  ciff    Common Index File Format, version 1
  pisa    OUTPUT.docs, OUTPUT.freqs, OUTPUT.sizes, OUTPUT.terms and OUTPUT.documents
  jsonl   one document per line, as a vector of its terms and their frequencies:
          {"id": NAME, "text": TEXT, "vector": {TERM: FREQUENCY, …}}
          with a text if the index stores texts

The formats do not name the analysis of terms. For text queries of an index from ciff or
pisa, repeat --stem, --stopwords, --fold, --cjk and --tokenizer. Queries of an index from jsonl
are split at white space. Impacts take the place of frequencies. jsonl has no lengths of
documents; they become the sums of the frequencies. No format has room for positions: they are
left out. Nor has any room for fields: title:loom stays one term, and documents get the lengths of
all fields together.

DIR is a collection: the output is the one of the index that heddle collection merge makes, and
needs room for that index file.

ciff and jsonl go to standard output by default. Files that exist are replaced with
--force only.`,
		Example: "  heddle index export books.hdl --format ciff -o books.ciff\n  heddle index export books.hdl --format jsonl | zstd > books.jsonl.zst",
	}, &indexExportOptions{})
}

func (o *indexExportOptions) AddFlags(fs *pflag.FlagSet) { o.add(fs, "", export.Formats()) }

func (o *indexExportOptions) add(fs *pflag.FlagSet, format export.Format, formats []export.Format) {
	flags.AddChoice(fs, &o.format, "format", format, "format of the output: ", formats)
	fs.StringVarP(&o.out, "output", "o", "-", "write to `OUTPUT`; - is standard output")
	fs.BoolVar(&o.force, "force", false, "replace files that exist")
}

func (o *indexExportOptions) Validate(args []string) error { return o.validate(args, "index file") }

func (o *indexExportOptions) validate(args []string, name string) error {
	switch {
	case o.format == "":
		return errors.New("--format is missing")
	case o.format == string(export.PISA) && o.out == "-":
		return errors.New("--format pisa writes several files: --output (-o) is missing")
	}
	return o.set(args, name)
}

func (o *indexExportOptions) Run(ctx context.Context, a *App) error {
	beside := ""
	if o.out != "-" {
		beside = filepath.Dir(o.out)
	}
	f, done, err := openIndex(ctx, o.path, beside)
	if err != nil {
		return err
	}
	if o.out == "-" {
		err = export.Write(ctx, f, export.Format(o.format), a.Stdout)
	} else {
		err = export.Files(ctx, f, export.Format(o.format), o.out, o.force)
	}
	return errors.Join(forcible(err), done())
}
