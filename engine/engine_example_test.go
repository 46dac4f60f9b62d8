package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"heddle/engine"
	"heddle/engine/index/build"
	"heddle/engine/plan"
)

// An engine answers queries of many callers on every processor that there is, one at a
// time or in batches, as many as there are. Its index can be replaced meanwhile.
func ExampleEngine() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	text, index := filepath.Join(folder, "looms.txt"), filepath.Join(folder, "looms.hdl")
	build := func(lines string) {
		if err := os.WriteFile(text, []byte(lines), 0o644); err != nil {
			log.Fatal(err)
		}
		if _, err := build.Build(ctx, index, []string{text}, build.DefaultOptions()); err != nil {
			log.Fatal(err)
		}
	}
	build("a\tthe red loom\nb\tthe blue loom\nc\tred thread on a red loom\n") // name TAB text

	e, err := engine.New(ctx, engine.Options{Timeout: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	x, err := e.OpenIndex(ctx, index, engine.IndexOptions{})
	if err != nil {
		log.Fatal(err)
	}
	search := func(words string) {
		s, err := x.Snapshot() // all answers come from one file, whatever is loaded meanwhile
		if err != nil {
			log.Fatal(err)
		}
		defer s.Close()
		hits, err := s.Search(ctx, engine.Query{Text: words, Match: engine.And, Caller: "me"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(words, ":")
		for _, d := range hits.Docs {
			name, err := s.File().DocName(d)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Print(" ", name)
		}
		fmt.Println()
	}
	search("red loom")

	best, err := x.Search(ctx, engine.Query{Text: "red", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the best of red is document", best.Docs[0])

	build("d\ta green loom\n")
	if err := x.Reload(ctx, index); err != nil {
		log.Fatal(err)
	}
	search("loom")

	late, stop := context.WithTimeout(ctx, 0)
	defer stop()
	_, err = x.Search(late, engine.Query{Text: "loom"})
	fmt.Println("late:", engine.CodeOf(err))
	if err := e.Close(); err != nil {
		log.Fatal(err)
	}
	_, err = x.Search(ctx, engine.Query{Text: "loom"})
	fmt.Println("after Close:", engine.CodeOf(err), errors.Is(err, plan.ErrClosed))
	// Output:
	// red loom: a c
	// the best of red is document 2
	// loom: d
	// late: deadline
	// after Close: closed true
}
