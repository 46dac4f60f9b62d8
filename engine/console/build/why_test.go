package main

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestReplies: totals, pages, order, members and attributes of the replies, which the address keeps.
func TestReplies(t *testing.T) {
	s := open(t, func(s *site) {
		var lines strings.Builder
		for i := range 30 {
			fmt.Fprintf(&lines, "{\"id\":\"d%d\",\"text\":\"red loom\",\"title\":\"<i>%d</i>\",\"year\":%d}\n", i, i, 2000+i%7)
		}
		s.write("docs.jsonl", lines.String())
		s.heddle("index", "build", "-o", "docs.hdl", "--store", "source", "--attributes", "docs.hdb", "docs.jsonl")
	}, "serve", "--index", "docs=docs.hdl", "--table", "docs=docs.hdb", "--drain-delay", "0s", "--backend", "host")
	s.visit("search")
	s.fill(queryField, "loom")
	s.fill("#sort", "year desc, score")
	s.fill("#fields", "title")
	s.fill("#columns", "*")
	s.choose("Total", "exact")
	s.do(chromedp.Click("button.primary"))
	s.until(`document.querySelectorAll(".hits li").length === 10`)
	type answer struct {
		Hits []struct {
			Doc    string
			Fields struct{ Title string }
		}
	}
	all := ask[answer](s, "/v1/indexes/docs/search", `{"query":"loom","k":30,"sort":["year desc","score"],"fields":["title"]}`).Hits
	page := func(first int) {
		t.Helper()
		s.until(fmt.Sprintf(`document.querySelector(".hit b")?.innerText === %q`, all[first].Doc))
		for i, doc := range s.texts(".hit b") {
			if doc != all[first+i].Doc {
				t.Errorf("hit %d is %q, want %q", first+i+1, doc, all[first+i].Doc)
			}
		}
		if got := s.text(".hits li .preview"); !strings.HasPrefix(got, "title "+all[first].Fields.Title) || !strings.Contains(got, "year 20") {
			t.Errorf("members %q", got)
		}
		if n := value[int](s, `document.querySelector(".hits").start`); n != first+1 {
			t.Errorf("the first hit has the number %d, want %d", n, first+1)
		}
	}
	press := func(name string) {
		t.Helper()
		value[bool](s, fmt.Sprintf(`[...document.querySelectorAll(".pages button")].find((b) => b.innerText === %q).click() ?? true`, name))
	}
	page(0)
	if got := s.text("#count b"); got != "30" {
		t.Errorf("total %s", got)
	}
	press("Next page")
	page(10)
	if body := value[string](s, `document.querySelector(".way .curl pre").textContent`); strings.Contains(body, `"offset"`) || strings.Contains(body, `"after":"*"`) {
		t.Errorf("the second page comes by the cursor: %s", body)
	}
	press("Next page")
	page(20)
	if !value[bool](s, `[...document.querySelectorAll(".pages button")][1].disabled`) {
		t.Error("there is a page behind the last one")
	}
	press("Previous page")
	page(10)
	s.do(chromedp.Reload()) // the address has the page
	s.until(`document.querySelector(".hits")?.start === 11`)
	page(10)
	s.do(chromedp.Click("button.primary")) // begins with the first page
	page(0)
	s.fill("#sort", "nosuch")
	s.do(chromedp.Click("button.primary"))
	s.until(`document.querySelector(".column .failure")?.textContent.includes("nosuch")`)
}

// TestWhy follows a score and a way to their pages.
func TestWhy(t *testing.T) {
	s := openDemo(t)
	s.visit("search?index=kjv&query=faith+hope+charity&k=3")
	s.until(`document.querySelectorAll(".hits li").length === 3`)
	shown := s.text("a.score")
	value[bool](s, `document.querySelector("a.score").click() ?? true`)
	s.until(`document.querySelector("#score") !== null`)
	score, err := strconv.ParseFloat(s.text("#score"), 64)
	if err != nil || strconv.FormatFloat(score, 'f', 4, 64) != shown {
		t.Errorf("score %v, and the search has %s", score, shown)
	}
	rows := s.texts("[aria-label='Parts of the score'] tbody tr")
	sum := 0.0
	for _, row := range rows[:len(rows)-1] {
		cells := strings.Split(row, "\t")
		part, _ := strconv.ParseFloat(cells[8], 64)
		weight, _ := strconv.ParseFloat(cells[3], 64)
		tf, _ := strconv.ParseFloat(cells[7], 64)
		if sum += part; part == 0 || math.Abs(weight*tf-part) > 1e-3*part {
			t.Errorf("part %q", row)
		}
	}
	if math.Abs(sum-score) > 1e-3 {
		t.Errorf("the parts %q have the sum %v, want %v", rows, sum, score)
	}
	value[bool](s, `[...document.querySelectorAll("main a")].find((a) => a.innerText === "Back to the search").click() ?? true`)
	s.until(`document.querySelectorAll(".hits li").length === 3`)
	value[bool](s, `[...document.querySelectorAll(".way a")].find((a) => a.innerText === "Why this way").click() ?? true`)
	s.until(`document.querySelectorAll(".tree li").length > 4`)
	names := s.texts(".tree li > b")
	for _, want := range []string{"rank or", "queue", "lists", "faith", "hope", "charity"} {
		if !slices.Contains(names, want) {
			t.Errorf("steps %q lack %s", names, want)
		}
	}
	if all := s.text(".tree"); !strings.Contains(all, "documents, codec") || !strings.Contains(all, "estimated") {
		t.Errorf("steps %s", all)
	}
}

// TestShares: with the clock of the device and counted loads the steps of lists, ranked queries and predicates name the
// bytes of the kernels and their share of the copy rate; without the loads, the setting.
func TestShares(t *testing.T) {
	device := cmp.Or(os.Getenv("HEDDLE_TEST_DEVICE"), "Portable Computing Language")
	t.Setenv("HEDDLE_DEVICES_PROFILING", "true")
	for _, counted := range []bool{true, false} {
		t.Setenv("HEDDLE_DEVICES_COUNT_LOADS", strconv.FormatBool(counted))
		s := open(t, func(s *site) {
			if !strings.Contains(s.heddle("devices"), device) {
				s.Skipf("no OpenCL device %q here (Debian's package pocl-opencl-icd; variable HEDDLE_TEST_DEVICE)", device)
			}
			demo(s)
		}, "serve", "--index", "kjv=kjv.hdl", "--table", "flights=flights.hdb", "--drain-delay", "0s", "--backend", "opencl", "--device", device)
		kernels := func(page string) {
			t.Helper()
			s.visit(page)
			s.until(`document.querySelectorAll(".tree li").length > 4`)
			got := s.texts(".tree li")
			i := slices.IndexFunc(got, func(step string) bool { return strings.HasPrefix(step, "kernels ") })
			if i < 0 {
				t.Errorf("%s: no kernels in %q", page, got)
			} else if is := shared.MatchString(got[i]); is != counted || counted == strings.Contains(got[i], "bytes are not counted: devices.count_loads") {
				t.Errorf("%s, loads counted: %v: %q", page, counted, got[i])
			}
		}
		for _, body := range []string{`{"query":"faith hope","k":3}`, `{"query":"faith AND hope"}`, `{"query":"(faith OR hope) the"}`} {
			kernels("way?index=kjv&body=" + url.QueryEscape(body))
		}
		kernels("tables?table=flights&where=" + url.QueryEscape("delay >= 60"))
	}
}

var shared = regexp.MustCompile(`^kernels [0-9.]+ (µs|ms) (< 0.01|[0-9.]+) %\s+[0-9.]+ ([KM]i)?B (< 0.01|[0-9.]+) % of the copy rate`)
