//go:build !core

package main

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDashboards checks each metric, with its labels, of the dashboard of Grafana and the alerts of Prometheus
// against the metrics of a server that has answered queries.
func TestDashboards(t *testing.T) {
	var rules []byte
	for _, file := range []string{"../../deploy/grafana/heddle.json", "../../deploy/prometheus/heddle.rules.yml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, text...)
	}
	inTempDir(t)
	writeFile(t, "books.txt", "a\theaven and earth\n")
	act(t, "", "index", "build", "-o", "books.hdl", "--format", "text", "books.txt")
	s := serve(t, "--dev", ".", "--admin", "127.0.0.1:0", "--drain-delay", "0s", "--backend", "host")
	s.do("POST", "/v1/indexes/books/search", `{"query":"heaven"}`)
	s.url = s.admin
	labels := map[string]map[string]bool{} // of each metric
	label := regexp.MustCompile(`([a-z_]+)(?:=~|=|!=|!~)\\?"`)
	for line := range strings.Lines(s.do("GET", "/metrics", "")) {
		name := strings.FieldsFunc(line, func(r rune) bool { return r == '{' || r == ' ' })[0]
		if labels[name] == nil {
			labels[name] = map[string]bool{"instance": true, "job": true} // Prometheus adds them
		}
		for _, l := range label.FindAllStringSubmatch(line, -1) {
			labels[name][l[1]] = true
		}
	}
	s.end()
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`(heddle_[a-z_]+)(\{[^}]*\})?`).FindAllStringSubmatch(string(rules), -1) {
		used[m[1]] = true
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if labels[m[1]] != nil && !labels[m[1]][l[1]] {
				t.Errorf("%s has no label %s, but %q", m[1], l[1], slices.Sorted(maps.Keys(labels[m[1]])))
			}
		}
		if labels[m[1]] == nil {
			t.Errorf("the server has no metric %s", m[1])
		}
	}
	if len(used) < 20 {
		t.Errorf("the files name %d metrics: %q", len(used), slices.Sorted(maps.Keys(used)))
	}
}
