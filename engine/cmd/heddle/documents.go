package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// documents are the flags for the inputs of a build.
type documents struct {
	format      string
	invalid     string
	skipInvalid bool
	maxInvalid  float64
	text        []string
	id          string
	fields      []string
}

// addMembers adds the flags that choose the members of JSON lines.
func (d *documents) addMembers(fs *pflag.FlagSet) {
	fs.StringSliceVar(&d.text, "text", nil, "`MEMBERS` of JSON lines that are the text, in this order, like title,meta.abstract; * is all")
	fs.StringVar(&d.id, "id", "", "`MEMBER` of JSON lines that names a document (default id, docno, docid, _id or name)")
}

// addFields adds the flag that makes fields of members.
func (d *documents) addFields(fs *pflag.FlagSet) {
	fs.StringSliceVar(&d.fields, "fields", nil, "make fields of these `MEMBERS` (JSON), columns (text) or elements (TREC), for title:loom")
}

func (d *documents) addFormat(fs *pflag.FlagSet, formats []build.Format) {
	flags.AddChoice(fs, &d.format, "format", build.Auto, "format of all inputs: ", formats)
}

func (d *documents) addInvalid(fs *pflag.FlagSet) {
	flags.AddChoice(fs, &d.invalid, "invalid", input.Replace, "treatment of invalid documents: ", input.InvalidModes())
	fs.BoolVar(&d.skipInvalid, "skip-invalid", false, "the same as --invalid skip")
	fs.Float64Var(&d.maxInvalid, "max-invalid", build.DefaultMaxInvalid, "greatest `SHARE` of invalid documents, 0 to 1")
}

func (d *documents) validate() error {
	if !(d.maxInvalid >= 0 && d.maxInvalid <= 1) {
		return fmt.Errorf("--max-invalid is %v, not a share from 0 to 1", d.maxInvalid)
	}
	if d.skipInvalid {
		d.invalid = string(input.Skip)
	}
	return nil
}

// apply sets the options of a build.
func (d *documents) apply(o *build.Options) {
	o.Format, o.MaxInvalid, o.Invalid = build.Format(d.format), d.maxInvalid, input.Invalid(d.invalid)
	o.Text, o.ID, o.Fields = d.text, d.id, d.fields
}

// settingsOf returns the options of an index: codecs, analysis, lengths and stored texts.
func settingsOf(c *config.Config, tokens string) (o build.Options, err error) {
	o = build.DefaultOptions()
	o.Codec, o.Dense, o.ExceptionRatio = c.Index.Codec, c.Index.Dense, c.Index.ExceptionRatio
	o.Tokens, o.Fold, o.Lengths, o.Stem = tokens, c.Index.Fold, c.Index.Lengths, c.Index.Stem
	if tokens == analyze.TokensWords {
		o.CJK = c.Index.Cjk
	}
	if o.Creator = thisBuild().String(); c.Index.Store != hdl.StoreNone {
		o.Store = c.Index.Store
	}
	o.Positions = c.Index.Positions
	o.StopWords, err = readStopwords(c.Index.Stopwords)
	return o, err
}

func addTokenizer(fs *pflag.FlagSet, to *string) {
	fs.StringVar(to, "tokenizer", analyze.TokensWords, "tokens of documents and queries, `NAME` is "+analyze.TokensWords+" or "+analyze.TokensSpaces)
}
