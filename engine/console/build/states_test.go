package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
)

// TestStates measures the contrast of all controls under the pointer, pressed and with the focus, in both themes.
// Two pages have all kinds of controls; HEDDLE_TEST_FULL looks at the others, too.
func TestStates(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	s := openDemo(t)
	s.do(chromedp.EmulateViewport(1280, 800))
	for _, v := range views {
		if v.name != "tables" && v.name != "indexes" && os.Getenv("HEDDLE_TEST_FULL") == "" {
			continue
		}
		s.visit(v.place)
		s.until(v.complete)
		value[bool](s, string(axe)+"; true")
		for _, theme := range []string{"light", "dark"} {
			s.setTheme(theme)
			for _, state := range [][]string{{"hover", "active"}, {"focus", "focus-visible"}} {
				s.force(state)
				for _, wrong := range s.contrast() {
					t.Errorf("%s, %s, %v: %s", v.name, theme, state, wrong)
				}
			}
		}
	}
}

const controls = "a[href], button, input, select, summary"

// force gives a state to all controls.
func (s *site) force(state []string) {
	s.Helper()
	if _, err := chromedp.Call(s.ctx, dom.Enable, dom.EnableParams{}); err != nil {
		s.Fatal(err)
	}
	if _, err := chromedp.Call(s.ctx, css.Enable, cdp.Empty{}); err != nil {
		s.Fatal(err)
	}
	page, err := chromedp.Call(s.ctx, dom.GetDocument, dom.GetDocumentParams{})
	if err != nil {
		s.Fatal(err)
	}
	all, err := chromedp.Call(s.ctx, dom.QuerySelectorAll, dom.QuerySelectorAllParams{NodeID: page.Root.NodeID, Selector: controls})
	if err != nil || len(all.NodeIDs) < 8 {
		s.Fatalf("%d controls: %v", len(all.NodeIDs), err)
	}
	for _, id := range all.NodeIDs {
		if _, err := chromedp.Call(s.ctx, css.ForcePseudoState, css.ForcePseudoStateParams{NodeID: id, ForcedPseudoClasses: state}); err != nil {
			s.Fatal(err)
		}
	}
}

// contrast returns the controls whose text differs too little from its ground.
func (s *site) contrast() (wrong []string) {
	s.Helper()
	text, err := chromedp.Run(s.ctx, chromedp.Evaluate[string](`axe.run({ include: `+"`"+controls+"`"+` }, { runOnly: { type: "rule", values: ["color-contrast"] } })
		.then((r) => JSON.stringify(r.violations.flatMap((v) => v.nodes.map((n) => n.html + ": " + n.failureSummary))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		s.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &wrong); err != nil {
		s.Fatal(err)
	}
	return wrong
}
