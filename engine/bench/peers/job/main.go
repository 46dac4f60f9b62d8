// Command job runs one job of a library in a process of its own, for package builds:
//
//	job bleve build INDEX LINES     indexes lines: name TAB text
//	job bleve count INDEX WORD      prints the number of documents with a word
//	job duckdb FILE SQL             runs a statement with two threads, and prints its first value
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/simple"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 4 && args[0] == "bleve" && args[1] == "build":
		return buildBleve(ctx, args[2], args[3])
	case len(args) == 4 && args[0] == "bleve" && args[1] == "count":
		return countBleve(args[2], args[3])
	case len(args) == 3 && args[0] == "duckdb":
		return runDuckDB(ctx, args[1], args[2])
	}
	return fmt.Errorf("unknown job %q", args)
}

// buildBleve makes an index of one segment, without stored values, positions and doc values.
func buildBleve(ctx context.Context, path, lines string) (err error) {
	field := bleve.NewTextFieldMapping()
	field.Analyzer = simple.Name
	field.Store, field.IncludeTermVectors, field.DocValues, field.IncludeInAll = false, false, false, false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt("text", field)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = doc
	x, err := bleve.NewUsing(path, m, scorch.Name, scorch.Name, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	f, err := os.Open(lines)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	batch := x.NewBatch()
	for n := 1; in.Scan(); n++ {
		_, text, _ := strings.Cut(in.Text(), "\t")
		if err := batch.Index(fmt.Sprintf("%010d", n), map[string]any{"text": text}); err != nil {
			return err
		}
		if n%4000 == 0 {
			if err := x.Batch(batch); err != nil {
				return err
			}
			batch.Reset()
		}
	}
	if err := errors.Join(in.Err(), x.Batch(batch)); err != nil {
		return err
	}
	inside, err := x.Advanced()
	if err != nil {
		return err
	}
	return inside.(*scorch.Scorch).ForceMerge(ctx, nil)
}

func countBleve(path, word string) (err error) {
	x, err := bleve.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	q := bleve.NewTermQuery(word)
	q.SetField("text")
	found, err := x.Search(bleve.NewSearchRequestOptions(q, 0, 0, false))
	if err == nil {
		fmt.Println(found.Total)
	}
	return err
}
