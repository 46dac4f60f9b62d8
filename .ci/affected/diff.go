package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
)

// edit is the change of a file.
type edit struct {
	lines  []span
	before []byte // the Go file before the change, or nil
}

// span is a range of lines, from 1. Lines that were only deleted make a span of the two lines around
// them.
type span struct{ first, last int }

func (s span) meets(t span) bool { return s.first <= t.last && t.first <= s.last }

// whole covers each line of a file.
var whole = span{0, 1 << 30}

// differences returns the changes of each file that differs from the commit or is untracked.
func differences(commit string) (map[string]edit, error) {
	diff, err := output("git", "diff", "-U0", "--no-renames", "--no-color", "--no-ext-diff", commit)
	if err != nil {
		return nil, err
	}
	edits, err := parse(diff)
	if err != nil {
		return nil, err
	}
	added, err := output("git", "diff", "--name-only", "--no-renames", "--diff-filter=A", commit)
	if err != nil {
		return nil, err
	}
	for name, e := range edits {
		if strings.HasSuffix(name, ".go") && !strings.Contains("\n"+string(added), "\n"+name+"\n") {
			if e.before, err = output("git", "show", commit+":"+name); err != nil {
				return nil, err
			}
			edits[name] = e
		}
	}
	untracked, err := output("git", "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	for name := range strings.Lines(string(untracked)) {
		edits[strings.TrimSuffix(name, "\n")] = edit{lines: []span{whole}}
	}
	return edits, nil
}

// parse reads the output of git diff -U0. A file without hunks, such as a binary file, counts as changed in each line.
func parse(diff []byte) (map[string]edit, error) {
	edits := map[string]edit{}
	var name string
	in := bufio.NewScanner(bytes.NewReader(diff))
	in.Buffer(nil, len(diff)+1)
	for in.Scan() {
		line := in.Text()
		if names, ok := strings.CutPrefix(line, "diff --git a/"); ok {
			name = names[:(len(names)-len(" b/"))/2] // one name twice
			edits[name] = edit{}
		} else if strings.HasPrefix(line, "@@ ") {
			s, err := hunk(line)
			if err != nil {
				return nil, err
			}
			edits[name] = edit{lines: append(edits[name].lines, s)}
		}
	}
	for name, e := range edits {
		if e.lines == nil {
			edits[name] = edit{lines: []span{whole}}
		}
	}
	return edits, in.Err()
}

// hunk reads the lines after the change from a header such as "@@ -10,2 +12,3 @@".
func hunk(header string) (span, error) {
	_, after, _ := strings.Cut(header, " +")
	lines, _, _ := strings.Cut(after, " ")
	var first int
	count := 1
	if n, err := fmt.Sscanf(lines, "%d,%d", &first, &count); n == 0 {
		return span{}, fmt.Errorf("line %q of git diff: %w", header, err)
	}
	if count == 0 {
		return span{first, first + 1}, nil
	}
	return span{first, first + count - 1}, nil
}
