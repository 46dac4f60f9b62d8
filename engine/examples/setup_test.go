package examples

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"heddle/engine/index/build"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
)

// books are four documents: a name and a text a line.
const books = "whale\tthe white whale and the sea\n" +
	"island\ta map, an island and the sea\n" +
	"moor\ta house on the moor\n" +
	"balloon\tover sea and land by balloon\n"

// years are the attributes of the documents, a row each.
const years = "year,lang,pages\n1851,en,635\n1883,en,292\n1847,en,532\n1863,fr,352\n"

// must ends the program after an error. A service returns the error instead.
func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// files builds books.hdl and years.hdb in a new folder. The programs remove it.
func files(ctx context.Context) (folder, index, table string) {
	folder = must(os.MkdirTemp("", "heddle-"))
	text, rows := filepath.Join(folder, "books.tsv"), filepath.Join(folder, "years.csv")
	check(os.WriteFile(text, []byte(books), 0o644))
	check(os.WriteFile(rows, []byte(years), 0o644))
	index, table = filepath.Join(folder, "books.hdl"), filepath.Join(folder, "years.hdb")
	must(build.Build(ctx, index, []string{text}, build.DefaultOptions()))
	source := must(csv.Open(ctx, []string{rows}, csv.Options{}))
	defer source.Close()
	must(tablebuild.Build(ctx, source, table, tablebuild.Options{}))
	return folder, index, table
}
