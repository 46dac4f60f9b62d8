package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// load sends searches until stop is called.
func load(s *site) (stop func()) {
	return loadOf(s, "/v1/indexes/kjv/search", `{"query":"faith hope","k":10}`, `{"query":"heaven earth sea","k":3}`)
}

// loadOf sends requests until stop is called: one caller for each body.
func loadOf(s *site, path string, bodies ...string) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	var callers sync.WaitGroup
	for i, body := range bodies {
		callers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				r, err := http.NewRequestWithContext(ctx, "POST", s.url+path, strings.NewReader(body))
				if err != nil {
					s.Error(i, err)
					return
				}
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					continue // the end
				}
				io.Copy(io.Discard, resp.Body) // the connection serves again
				resp.Body.Close()
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	return func() { cancel(); callers.Wait() }
}

// TestLive compares the page with the events that it draws.
func TestLive(t *testing.T) {
	s := openDemo(t)
	stop := load(s)
	defer stop()
	s.visit("live")
	s.choose("Update", "100")
	s.until(`document.querySelectorAll(".uplot canvas").length === 9 && document.querySelector("#rate").innerText !== "0"`)
	names := value[[]string](s, `[...document.querySelectorAll("figure h2")].map((h) => h.textContent)`) // those outside of the window, too
	if got := fmt.Sprint(names); got != "[Queries per second Time of a query Queue Batch size Busy Load and mode Cache hits Prediction error Memory]" {
		t.Errorf("charts %s", got)
	}
	type status struct {
		Processors []struct{ Name string }
	}
	want := ask[status](s, "/v1/status", "")
	legend := s.texts("figure:first-of-type .legend li")
	if len(legend) != len(want.Processors) || !strings.HasPrefix(legend[0], want.Processors[0].Name) {
		t.Errorf("legend %q, want %v", legend, want.Processors)
	}
	// Paused, the page stays as it is; afterwards it shows the events that came in between.
	value[bool](s, `document.querySelector("button[aria-pressed]").click() ?? true`)
	s.until(`document.querySelector("button[aria-pressed]").innerText === "Continue"`)
	value[bool](s, `document.querySelector("button[aria-pressed]").click() ?? true`)
	s.until(`document.querySelector("button[aria-pressed]").innerText === "Pause"`)
	stop()
	s.until(`document.querySelector("#rate").innerText === "0"`)

	// A page that opens later has the events from before: the server keeps them.
	s.do(chromedp.Reload())
	s.until(`document.querySelector("figure:first-of-type .legend b") !== null`)
	first := value[string](s, `[...document.querySelectorAll("figure")].find((f) => f.ariaLabel === "Time of a query").querySelector(".legend b").innerText`)
	if first == "–" {
		t.Error("no time of a query from before the page was opened")
	}
	if load := value[string](s, `document.querySelector(".tiles div:nth-child(3) dd").innerText`); strings.Contains(load, "e-") {
		t.Errorf("load %q", load)
	}
}
