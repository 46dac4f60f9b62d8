package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	// stackHead is the first line of a goroutine in a dump: its number, its state, and how long it waits.
	stackHead = regexp.MustCompile(`^goroutine (\d+)[^\[]*\[([^,\]]*)(?:, \d+ minutes)?([^\]]*)\]:$`)
	// stackValue is what differs between goroutines with the same calls: arguments, offsets in the code,
	// and the goroutine that started this one.
	stackValue = regexp.MustCompile(`\([^()]*\)$| \+0x[0-9a-f]+$| in goroutine \d+$`)
)

// foldStacks writes goroutines with equal stacks once, with their number, where the first of them stands.
// A test that hangs prints all its goroutines, and thousands of like ones would hide the others.
func foldStacks(text string) string {
	type stack struct {
		text  string
		count int
	}
	var stacks []*stack
	known := map[string]*stack{}
	body := strings.TrimRight(text, "\n")
	for part := range strings.SplitSeq(body, "\n\n") {
		head, calls, _ := strings.Cut(part, "\n")
		key := part
		m := stackHead.FindStringSubmatch(head)
		if m != nil {
			lines := strings.Split(calls, "\n")
			for i, line := range lines {
				lines[i] = stackValue.ReplaceAllString(line, "")
			}
			key = strings.Join(slices.Concat(m[2:], lines), "\n")
		}
		s := known[key]
		if s == nil || m == nil {
			s = &stack{text: part}
			known[key], stacks = s, append(stacks, s)
		}
		s.count++
	}
	parts := make([]string, len(stacks))
	for i, s := range stacks {
		parts[i] = s.text
		if s.count > 1 {
			parts[i] = fmt.Sprintf("%d goroutines with this stack:\n%s", s.count, s.text)
		}
	}
	return strings.Join(parts, "\n\n") + text[len(body):]
}
