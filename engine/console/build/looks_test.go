package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// views are the pages as people see them, with an expression that is true when they are complete.
var views = []struct{ name, place, complete string }{
	{"search", "search?index=kjv&query=faith+hope&k=10", `document.querySelectorAll(".hits li").length === 10`},
	{"matches", "search?index=kjv&query=(heaven+AND+earth)+NOT+sea&k=10&ranked=no", `document.querySelectorAll(".way .lists li").length > 0`},
	{"tables", "tables?table=flights&where=delay+%3E%3D+60+AND+distance+%3C+500", `document.querySelector("#vectors") !== null`},
	{"live", "live", `document.querySelector(".tiles") !== null`},
	{"devices", "devices", `document.querySelectorAll(".findings li").length > 0`},
	{"cluster", "cluster", `document.querySelector(".notice, .coverage") !== null`},
	{"indexes", "indexes", `document.querySelector("[aria-label=Terms]") !== null`},
}

// setTheme chooses a theme as a person does.
func (s *site) setTheme(theme string) {
	s.Helper()
	value[bool](s, fmt.Sprintf(`(() => { const t = document.querySelector(".theme select"); t.value = %q; return t.dispatchEvent(new Event("change", { bubbles: true })); })()`, theme))
}

// TestWidths looks at each page in both themes, from a phone to a large screen. No page is wider
// than its window. The pictures lie in .build/console.
func TestWidths(t *testing.T) {
	s := openDemo(t)
	s.shoot("")
}

func (s *site) shoot(prefix string) {
	stop := load(s)
	defer stop()
	dir, err := filepath.Abs(filepath.Join(root, ".build", "console"))
	if err != nil {
		s.Fatal(err)
	}
	for _, width := range []int64{360, 1280, 3840} {
		s.do(chromedp.EmulateViewport(width, map[int64]int64{360: 740, 1280: 800, 3840: 2160}[width]))
		for _, v := range views {
			s.visit(v.place)
			s.until(v.complete)
			for _, theme := range []string{"light", "dark"} {
				s.setTheme(theme)
				if over := value[int](s, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					s.Errorf("%s at %d pixels is %d pixels too wide", v.name, width, over)
				}
				picture, err := chromedp.Run(s.ctx, chromedp.FullScreenshot(100))
				if err != nil {
					s.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s%s-%d-%s.png", prefix, v.name, width, theme)), picture, 0o644); err != nil {
					s.Fatal(err)
				}
			}
		}
	}
}

// TestAccessible checks each page in both themes by axe-core: WCAG 2.2, levels A and AA.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	s := openDemo(t)
	stop := load(s)
	defer stop()
	for _, v := range views {
		s.visit(v.place)
		s.until(v.complete)
		value[bool](s, string(axe)+"; true")
		for _, theme := range []string{"light", "dark"} {
			s.setTheme(theme)
			for _, wrong := range s.axe() {
				t.Errorf("%s, %s: %s", v.name, theme, wrong)
			}
		}
	}
}

// axe returns the rules that the page breaks.
func (s *site) axe() (wrong []string) {
	s.Helper()
	type result struct {
		Passes     int
		Violations []struct {
			ID, Help string
			Nodes    []struct{ HTML, FailureSummary string }
		}
	}
	text, err := chromedp.Run(s.ctx, chromedp.Evaluate[string](`axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
		.then((r) => JSON.stringify({ passes: r.passes.length, violations: r.violations }))`, chromedp.EvalAwaitPromise))
	if err != nil {
		s.Fatal(err)
	}
	var r result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		s.Fatal(err)
	}
	if r.Passes < 15 {
		s.Errorf("only %d rules hold: the page is not complete", r.Passes)
	}
	for _, v := range r.Violations {
		wrong = append(wrong, fmt.Sprintf("%s: %s: %d places, such as %s: %s", v.ID, v.Help, len(v.Nodes), v.Nodes[0].HTML, strings.ReplaceAll(v.Nodes[0].FailureSummary, "\n", " ")))
	}
	return wrong
}
