package main

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// Targets on a quiet machine. Other programs make a page slower and never faster: a test repeats a
// measurement that misses its target, and believes the best one.
const (
	paintTarget = 100 // ms
	shareTarget = 5   // % of a core
	attempts    = 20
)

// TestPaint measures the first paint of a page. Where a file of plain text misses the target too, the
// machine is too busy for a judgement.
func TestPaint(t *testing.T) {
	s := openDemo(t)
	first := func(page string) float64 {
		s.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+"/console/"+page))
		s.until(`performance.getEntriesByType("paint").length > 0`)
		return value[float64](s, `performance.getEntriesByType("paint")[0].startTime`)
	}
	page, text := 1e9, 1e9
	for range attempts {
		text, page = min(text, first("licenses.txt")), min(page, first("#/search"))
		if page <= paintTarget {
			break
		}
	}
	t.Logf("first paint after %.0f ms; of plain text after %.0f ms", page, text)
	if page > paintTarget && page > 3*text {
		t.Errorf("first paint after %.0f ms, the best of %d; of plain text after %.0f ms", page, attempts, text)
	}
}

// history makes the next stream of events begin with the events of ten minutes, ten a second.
const history = `(() => {
	const real = window.fetch;
	window.fetch = async (path, options) => {
		const reply = await real(path, options);
		if (!String(path).startsWith("/v1/events")) return reply;
		const status = await (await real("/v1/status")).json();
		let past = "";
		for (let i = 6000; i > 0; i--) past += "data: " + JSON.stringify({ ...status, time_ms: status.time_ms - 100 * i, interval_ms: 100 }) + "\n\n";
		const both = new TransformStream({ start: (c) => c.enqueue(new TextEncoder().encode(past)) });
		reply.body.pipeTo(both.writable).catch(() => {});
		window.fetch = real;
		return new Response(both.readable);
	};
	return true;
})()`

// TestCost measures the processor time of the page Live at ten updates per second, when it opens and
// with the events of ten minutes.
func TestCost(t *testing.T) {
	s := openDemo(t)
	stop := load(s)
	defer stop()
	if _, err := chromedp.Call(s.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, before string }{{"few events", "true"}, {"ten minutes of events", history}} {
		t.Run(c.name, func(t *testing.T) {
			s.visit("search")
			value[bool](s, c.before)
			value[bool](s, `(location.hash = "#/live") !== ""`)
			s.until(`document.querySelector("main h1")?.innerText === "Live" && document.querySelectorAll(".uplot canvas").length > 0`)
			s.choose("Update", "100")
			s.until(`document.querySelectorAll(".uplot canvas").length === 9`)
			share := 1e9
			for i := 0; i < attempts && share > shareTarget; i++ {
				before, began := s.busy(), time.Now()
				time.Sleep(2 * time.Second) // a measurement needs time
				share = min(share, 100*(s.busy()-before)/time.Since(began).Seconds())
			}
			t.Logf("ten updates per second take %.1f %% of a core", share)
			if share > 3*shareTarget { // a slower processor takes more of its time
				t.Errorf("ten updates per second take %.1f %% of a core, the best of %d", share, attempts)
			}
		})
	}
}

// busy returns the processor time of the page so far, in seconds.
func (s *site) busy() float64 {
	s.Helper()
	r, err := chromedp.Call(s.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		s.Fatal(err)
	}
	for _, m := range r.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	s.Fatal("the browser has no metric TaskDuration")
	return 0
}
