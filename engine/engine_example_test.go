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
	"heddle/engine/schedule"
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

	e, err := engine.Start(ctx, index, engine.EngineOptions{Timeout: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	search := func(words string) {
		v, err := e.View() // of one index, whatever is loaded meanwhile
		if err != nil {
			log.Fatal(err)
		}
		defer v.Close()
		answer, err := v.Search(ctx, engine.Query{Text: words}, engine.SearchOptions{}, engine.Call{Caller: "me"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(words, ":")
		for _, d := range answer.Docs {
			fmt.Print(" ", v.Index().File().DocName(d))
		}
		fmt.Println()
	}
	search("red loom")

	ranking, err := e.Rank(ctx, engine.Query{Text: "red"}, engine.RankOptions{K: 1}, engine.Call{Mode: schedule.Async})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the best of red is document", ranking.Docs[0])

	build("d\ta green loom\n")
	if err := e.Reload(ctx, index); err != nil {
		log.Fatal(err)
	}
	search("loom")

	_, err = e.Search(ctx, engine.Query{Text: "loom"}, engine.SearchOptions{}, engine.Call{Timeout: time.Nanosecond})
	fmt.Println("late:", errors.Is(err, schedule.ErrDeadline))
	if err := e.Close(); err != nil {
		log.Fatal(err)
	}
	_, err = e.Search(ctx, engine.Query{Text: "loom"}, engine.SearchOptions{}, engine.Call{})
	fmt.Println("after Close:", errors.Is(err, plan.ErrClosed))
	// Output:
	// red loom: a c
	// the best of red is document 2
	// loom: d
	// late: true
	// after Close: true
}
