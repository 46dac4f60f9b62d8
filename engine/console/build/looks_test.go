package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// views are the pages as people see them, with an expression that is true when they are complete.
var views = []struct{ name, place, complete string }{
	{"search", "search?index=kjv&query=faith+hope&k=10", `document.querySelectorAll(".hits li").length === 10`},
	{"matches", "search?index=kjv&query=(heaven+AND+earth)+NOT+sea&k=10&ranked=no", `document.querySelectorAll(".way .lists li").length > 0`},
	{"tables", "tables?table=flights&where=delay+%3E%3D+60+AND+distance+%3C+500", `document.querySelector("#vectors") !== null`},
	{"live", "live", `document.querySelectorAll(".uplot canvas").length > 0`},
	{"devices", "devices", `document.querySelectorAll(".findings li").length > 0`},
	{"cluster", "cluster", `document.querySelector(".notice, .coverage") !== null`},
	{"score", "score?index=kjv&id=28678&body=" + url.QueryEscape(`{"query":"faith hope charity","mode":"or"}`), `document.querySelector("#score") !== null`},
	{"way", "way?index=kjv&body=" + url.QueryEscape(`{"query":"heaven earth","mode":"and"}`), `document.querySelectorAll(".tree li").length > 4`},
	{"indexes", "indexes", `document.querySelector("[aria-label=Terms]") !== null`},
}

// setTheme chooses a theme as a person does.
func (s *site) setTheme(theme string) {
	s.Helper()
	value[bool](s, fmt.Sprintf(`(() => { const t = document.querySelector(".theme select"); t.value = %q; return t.dispatchEvent(new Event("change", { bubbles: true })); })()`, theme))
}

// widths are the widths of the windows: a phone, a usual one and, with HEDDLE_TEST_FULL, a large
// screen, whose pictures take as long as all others.
func widths() []int64 {
	if os.Getenv("HEDDLE_TEST_FULL") != "" {
		return []int64{360, 1280, 3840}
	}
	return []int64{360, 1280}
}

// heights are the heights of these windows.
var heights = map[int64]int64{360: 740, 1280: 800, 3840: 2160}

// TestWidths looks at each page in both themes, from a phone to a large screen. No page is wider
// than its window. The pictures lie in .build/console.
func TestWidths(t *testing.T) {
	s := openDemo(t)
	stop := load(s)
	defer stop()
	for _, width := range widths() {
		for _, v := range views {
			s.do(chromedp.EmulateViewport(width, heights[width]))
			s.visit(v.place)
			s.until(v.complete)
			for _, theme := range []string{"light", "dark"} {
				s.setTheme(theme)
				if over := value[int](s, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					s.Errorf("%s at %d pixels is %d pixels too wide", v.name, width, over)
				}
				s.shoot(width, fmt.Sprintf("%s-%d-%s", v.name, width, theme))
			}
		}
	}
}

// shoot writes a picture of the whole page. The window becomes as high as the page, because a browser
// leaves out parts of charts that lie outside of the window.
func (s *site) shoot(width int64, name string) {
	s.Helper()
	s.do(chromedp.EmulateViewport(width, heights[width]))
	s.do(chromedp.EmulateViewport(width, max(heights[width], value[int64](s, "document.documentElement.scrollHeight"))))
	s.until(`[...document.querySelectorAll(".plot")].every((p) => p.querySelector("canvas")?.checkVisibility({ contentVisibilityAuto: true }))`)
	picture, err := chromedp.Run(s.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		s.Fatal(err)
	}
	path := filepath.Join(root, ".build", "console", name+".png")
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		s.Fatal(err)
	}
}

// TestAccessible checks each page by axe-core: WCAG 2.2, levels A and AA. It looks in both themes at a
// window of usual width, and in one of them at a phone and at a large screen.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	s := openDemo(t)
	stop := load(s)
	defer stop()
	for _, width := range widths() {
		s.do(chromedp.EmulateViewport(width, 800))
		for _, v := range views {
			s.visit(v.place)
			s.until(v.complete)
			value[bool](s, string(axe)+"; true")
			for _, theme := range map[bool][]string{true: {"light", "dark"}, false: {"light"}}[width == 1280] {
				s.setTheme(theme)
				for _, wrong := range s.axe() {
					t.Errorf("%s at %d pixels, %s: %s", v.name, width, theme, wrong)
				}
			}
		}
	}
}

// TestTab walks each page by the key Tab. It reaches every control, each shows that it has the focus,
// and the walk comes to an end.
func TestTab(t *testing.T) {
	s := openDemo(t)
	for _, width := range []int64{360, 1280} {
		s.do(chromedp.EmulateViewport(width, 800))
		for _, v := range views {
			s.visit(v.place)
			s.until(v.complete)
			value[bool](s, `(() => {
				const shown = (x) => x.checkVisibility({ visibilityProperty: true }) && !x.disabled && x.tabIndex >= 0;
				window.left = new Set([...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter(shown));
				window.plain = [];
				document.activeElement?.blur();
				return left.size > 0;
			})()`)
			steps := 3 * value[int](s, "left.size")
			for i := 0; value[int](s, "left.size") > 0 && i < steps; i++ {
				s.do(chromedp.KeyEvent(kb.Tab))
				value[bool](s, `(() => {
					const x = document.activeElement;
					left.delete(x);
					const style = getComputedStyle(x), box = x.getBoundingClientRect();
					const marked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none";
					const seen = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
					if (x !== document.body && !(marked && seen)) plain.push(x.outerHTML.slice(0, 120));
					return true;
				})()`)
			}
			if left := value[[]string](s, "[...left].filter((x) => x.isConnected).map((x) => x.outerHTML.slice(0, 120))"); len(left) > 0 {
				t.Errorf("%s at %d pixels: Tab does not reach %q", v.name, width, left)
			}
			if plain := value[[]string](s, "plain"); len(plain) > 0 {
				t.Errorf("%s at %d pixels: no mark of the focus, or out of sight: %q", v.name, width, plain)
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
