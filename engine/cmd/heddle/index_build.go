package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cluster/split"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/cmd/heddle/internal/memlimit"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/file/auxiliary"
	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

type indexBuildOptions struct {
	settings
	documents
	out        string
	inputs     []string
	tokens     string
	shards     int
	attributes string
	renumber   string
	quantised  bool
	json       bool
	noProgress bool
	force      bool
}

// Memory of a build beside its limit, in bytes: buffers of files, of each shard, and of stored documents for
// each file, and for each core that compresses them.
const (
	buildFixed      = 8 << 20
	buildShard      = 6 << 20
	buildStored     = 6 << 20
	buildStoredCore = 3 << 20
)

// reserve is the memory of the build beside its limit, in bytes.
func (o *indexBuildOptions) reserve(stored bool) uint64 {
	n := uint64(buildFixed + o.shards*buildShard)
	if stored {
		n += uint64(max(o.shards, 1))*buildStored + uint64(runtime.GOMAXPROCS(0))*buildStoredCore
	}
	return n
}

func newIndexBuild(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "build -o X.hdl|DIR INPUT… [flags]",
		Short: "Build an index from documents or posting lists",
		Long: `Build reads the inputs in order and writes one index file. The file appears when it
is complete; an interrupted or failed build leaves nothing. It replaces a file of heddle,
and a file of another program with --force only. A folder stands for all files in it and
in its subfolders, in the order of their names, without hidden files, links and files of
heddle.

  text    one document per line: NAME TAB TEXT
  jsonl   one object per line: a name, and texts; or vector, an object of terms and weights
  trec    SGML: <DOC> with a <DOCNO>, an attribute id or a <DOCID>
  warc    web archives: records of WET text, and pages of HTML or text
  pisa    BASE.docs, BASE.freqs, BASE.sizes; BASE.terms and BASE.documents if present
  ciff    Common Index File Format, version 1

The name of a JSON object is the first of its members id, docno, docid, _id and name, or --id. Its
text is title, headings, abstract, summary, description, text, contents, content, body and
segment, those that it has, in this order, or --text: names of members, paths such as meta.title,
or * for all texts. A warning names other members with texts, and --json counts them; so it does
with the elements of TREC that --fields leaves out, and with a field that is empty.

Inputs may be compressed by gzip, zstd or bzip2; - is standard input. Text is UTF-8, or
UTF-16 with a byte order mark. Lines end in LF, CR LF or CR. --format auto decides by
names and first bytes; it refuses CSV, JSON arrays, HTML and XML. pisa and ciff contain
terms already; for them --tokenizer, --cjk, --fold, --stem and --stopwords describe
the analysis that made the terms, for queries.

--fold makes one term of spellings such as café, CAFÉ and cafe. --cjk bigrams makes overlapping
pairs of Chinese, Japanese and Korean characters, so that words stay together. --stem porter,
--stopwords lucene and --lengths lucene give the terms and scores of Lucene's analyser
for English. --lengths changes the scores of BM25 alone.

A document is invalid if it has invalid UTF-8 or half of a surrogate pair, if its line of
text has no TAB although the first line has one (or the opposite), or if it cannot be
read, for example as JSON.
--invalid replace puts U+FFFD in the place of invalid UTF-8, takes lines as they are, and
fails at a document that cannot be read. --invalid skip leaves all invalid documents out.
--invalid fail stops at the first. The summary counts invalid documents, and a warning
names the first. A share of invalid documents above --max-invalid is an error.

--codec auto gives each list the codec with the lowest cost, which index info shows. Any
other codec stores the lists that it makes smaller than raw; the other lists are raw.
--dense auto stores lists of more than one document in 32 as bitsets.

--positions keeps the positions of words, which phrases ("red loom") need. Vectors, pisa and ciff
have none, and --impacts excludes them.

--fields title,body makes a field of each of these members of JSON lines, elements of TREC or
columns of text, with terms, lengths and statistics of its own, for queries such as title:loom and
for search --query-fields title^3,body. TABs separate columns. Below a first line with the names
of all fields they go by name, and --id or the first other column names documents; else the first
one names them, and the fields follow in their order. The fields are the text, so --text excludes
them. Vectors have none, and --impacts excludes them.

--store text keeps the texts, from which search prints snippets, and --store source the
whole objects of JSON lines; index dump --doc prints them. --impacts 8 or 16
replaces frequencies by impacts, that is, by scores quantised to 8 or 16 bits: BM25
scores with --variant, --k1 and --b, or the weights of vectors. Without --impacts the
weights of vectors must be whole numbers and count as frequencies. A weight of 0 is no posting.
--quantised takes the frequencies of ciff and pisa as impacts as they are. Terms of vectors are
not analysed, and queries are split at white space, as with --tokenizer whitespace.

--build-memory limits the memory of the process. Larger inputs use temporary files beside the
index. An error names the least limit if the limit is too small. With --impacts 4 bytes per
document come on top, and 12 bytes per posting of the longest list where they exceed the limit.

--attributes writes an attribute table, for searches with --where and --facets: one column for
each member of the JSON lines with texts, numbers or booleans, beside the name, text and vector
of the document. Row i of the table is document i. Arrays make a column multi-valued. The members
of objects, in arrays too, are named by their path, such as author.name. Texts stay texts, such
as "007", unless all values of a column are times; texts beside numbers make all of them texts,
with a warning. Other types are inferred as by bitmap build. Inputs are JSON lines then. The
table replaces a table that is there; another file needs --force. A crash while the complete
files get their names can leave the old files, or an index without its table, but never an index
with the table of other documents.

--renumber random numbers the documents at random instead of in the order of the inputs. The
line codecs (lrc to hslrc256) then take fewer bytes, and gap codecs more if the inputs were
in a good order (Ao et al. 2011, section 6.2). The same inputs give the same numbering. It takes
24 bytes per document beside --build-memory.

--shards writes shards and their manifest to the folder of --output, the same as a build and
heddle cluster split after it.`,
		Example: `  heddle index build -o books.hdl books.tsv
  heddle index build -o books.hdl --stem english --stopwords stop.txt books.tsv
  printf 'a\tthe red loom\nb\tthe blue loom\n' | heddle index build -o looms.hdl --format text -`,
	}, &indexBuildOptions{})
}

func (o *indexBuildOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.out, "output", "o", "", "write the index to `X.hdl`, or shards to this folder")
	o.addFormat(fs, build.Formats())
	addTokenizer(fs, &o.tokens)
	o.Add(fs, "codec", "exception-ratio", "dense", "stem", "stopwords", "cjk", "fold", "lengths", "store", "positions", "impacts", "variant", "k1", "b", "build-memory")
	o.addInvalid(fs)
	o.addMembers(fs)
	o.addFields(fs)
	fs.BoolVar(&o.quantised, "quantised", false, "with --impacts: frequencies of ciff and pisa are impacts already")
	fs.IntVar(&o.shards, "shards", 0, fmt.Sprintf("write this `NUMBER` of shards, 1 to %d, to the folder of --output", split.MaxBuild))
	fs.StringVar(&o.attributes, "attributes", "", "write the other members of JSON lines to the attribute table `X.hdb`")
	flags.AddChoice(fs, &o.renumber, "renumber", build.RenumberNone, "numbering of documents: ", []string{build.RenumberNone, build.RenumberRandom})
	fs.BoolVar(&o.force, "force", false, "replace a file of another program, or write to a folder with other files")
	addJSON(fs, &o.json)
	addNoProgress(fs, &o.noProgress)
}

func (o *indexBuildOptions) Validate(args []string) error {
	o.inputs = args
	switch {
	case o.out == "":
		return errors.New("--output (-o) is missing")
	case o.out == "-":
		return errors.New("an index cannot be written to standard output: its parts are not written in order")
	case len(args) == 0:
		return errors.New("an input is missing (- is standard input)")
	case o.shards < 0 || o.shards > split.MaxBuild:
		return fmt.Errorf("--shards is %d; a build writes 1 to %d shards, and heddle cluster split more", o.shards, split.MaxBuild)
	}
	switch {
	case o.renumber == build.RenumberRandom && o.shards > 0:
		return errors.New("--renumber random writes one index: build it without --shards, then run heddle cluster split")
	}
	if err := o.documents.validate(); err != nil || o.attributes == "" {
		return err
	}
	return o.validateAttributes()
}

func (o *indexBuildOptions) Run(ctx context.Context, a *App) error {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	opt, err := settingsOf(c, o.tokens)
	if err != nil {
		return err
	}
	o.apply(&opt)
	variant, err := bm25.ParseVariant(c.Ranking.Variant)
	if err != nil {
		return err
	}
	room, restore, err := memlimit.Set(uint64(c.Index.BuildMemory), o.reserve(opt.Store != "" && opt.Store != hdl.StoreNone))
	if err != nil {
		return err
	}
	defer restore()
	opt.Force, opt.Impacts, opt.MemoryLimit, opt.Stdin = o.force, uint8(c.Index.Impacts), room, a.Stdin
	if opt.Quantised = o.quantised; o.quantised && opt.Impacts == 0 {
		return usageError{errors.New("--quantised needs --impacts 8 or 16")}
	}
	opt.Scoring = bm25.Params{Variant: variant, K1: c.Ranking.K1, B: c.Ranking.B}
	var bar terminal.Progress
	opt.Progress = a.indexing(&bar, o.noProgress)
	var parts *split.Output
	if o.shards > 0 {
		opt.Create = func(out string, meta hdl.Meta, lengths func(func(uint32) error) error) (build.Output, error) {
			w, err := split.Create(out, o.shards, o.force, meta, lengths)
			parts = w
			return w, err
		}
	}
	opt.Renumber = o.renumber
	var table *attributeTable
	if o.attributes != "" {
		opt.Format, opt.Attributes = build.JSONL, []string{"*"}
		if table, err = o.buildAttributes(ctx, &log, &opt, room/2); err != nil {
			return err
		}
		defer table.remove()
	}
	sum, err := build.Build(ctx, filepath.Clean(o.out), o.inputs, opt)
	bar.End()
	if err == nil && table != nil {
		err = table.publish()
	}
	if err != nil {
		return forcible(err)
	}
	if parts != nil {
		for _, s := range parts.Map().Shards {
			sum.FileBytes += int64(s.Bytes)
		}
	}
	report.Warn(log, &sum)
	return a.print(report.NewBuild(o.out, &sum), o.json)
}

// indexing returns a report of progress of a build.
func (a *App) indexing(bar *terminal.Progress, none bool) func(done, total int64, docs uint64) {
	started := false
	return func(done, total int64, docs uint64) {
		if !started {
			started, *bar = true, a.progress("indexing", terminal.UnitBytes, total, none)
			return // the rate counts from here
		}
		bar.To(done)
	}
}

// readStopwords returns a list of analyze.StopWords, or the words of a file. Name "none"
// gives no words.
func readStopwords(name string) ([]string, error) {
	if name == "none" {
		return nil, nil
	}
	if words, ok := analyze.StopWords(name); ok {
		return words, nil
	}
	text, err := auxiliary.Read(name, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("stop words: %w", err)
	}
	words, err := analyze.ReadStopWords(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("stop words: %s: %w", name, err)
	}
	return words, nil
}
