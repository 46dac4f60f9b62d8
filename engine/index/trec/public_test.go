package trec

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/file/input"
)

// publicTopics names a folder of topic files of public tracks, as castorini/anserini-tools has them.
const publicTopics = "HEDDLE_TEST_TOPICS"

// refused are the reasons for which a public file is refused: it has no queries that are texts.
var refused = []string{
	"a JSON array: write one object per line", "a vector that is an array, as of dense retrieval", "the second column is a list of answers",
	"a <top> without <title>, <query> or <content>", "none of the members text, query", "truncated", "invalid UTF-8: byte", "at most 1048576 are possible",
}

// TestPublicTopics reads each file, or finds the named reason to refuse it. No file of elements
// becomes a query a line.
func TestPublicTopics(t *testing.T) {
	folder := os.Getenv(publicTopics)
	if folder == "" {
		t.Skip("needs topic files: set " + publicTopics + " to their folder")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "topics.*"))
	if err != nil || len(paths) < 300 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	read := 0
	for _, path := range paths {
		topics, bad, err := readFile(t.Context(), path)
		if err == nil && bad == 0 && topics > 0 {
			read++
			continue
		}
		known := false
		for _, reason := range refused {
			known = known || err != nil && strings.Contains(err.Error(), reason)
		}
		if !known {
			t.Errorf("%s: %d topics, %d wrong, %v", filepath.Base(path), topics, bad, err)
		} else {
			t.Logf("refused: %d wrong of %d: %v", bad, topics, err)
		}
	}
	t.Logf("%d files, %d read, the others refused by name", len(paths), read)
}

// readFile counts the topics of a file. The error is the first one.
func readFile(ctx context.Context, path string) (topics, bad int, err error) {
	in, err := (&input.Opener{Ctx: ctx}).Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	var first error
	err = ReadTopics(path, in, Reading{Format: Auto}, func(q Topic) bool {
		switch topics++; {
		case q.Err != nil:
			if bad++; first == nil {
				first = &Error{path, q.Line, q.Err}
			}
		case strings.HasPrefix(q.Text, "<t") || strings.HasPrefix(q.Text, "<quer") || strings.HasPrefix(q.Text, "<?"):
			if bad++; first == nil {
				first = &Error{path, q.Line, os.ErrInvalid}
			}
		}
		return true
	})
	if err == nil {
		err = first
	}
	return topics, bad, err
}
