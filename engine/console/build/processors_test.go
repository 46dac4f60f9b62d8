package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestProcessors looks at a server that answers by pure Go and by an OpenCL device: the device's part of a
// search, two processors side by side, their lines on the page Live, and their cards.
func TestProcessors(t *testing.T) {
	device := cmp.Or(os.Getenv("HEDDLE_TEST_DEVICE"), "Portable Computing Language")
	t.Setenv("HEDDLE_DEVICES_PROFILING", "true") // the stages of a search
	s := open(t, func(s *site) {
		if !strings.Contains(s.heddle("devices"), device) {
			s.Skipf("no OpenCL device %q here (Debian's package pocl-opencl-icd; variable HEDDLE_TEST_DEVICE)", device)
		}
		demo(s)
	}, "serve", "--index", "kjv=kjv.hdl", "--drain-delay", "0s", "--backend", "all", "--device", device)
	processors := ask[struct {
		Devices []struct{ Name, Kind string }
	}](s, "/v1/devices", "").Devices
	if len(processors) != 2 || processors[0].Kind != "host" || processors[1].Kind != "opencl" {
		t.Fatalf("processors %+v", processors)
	}
	names := []string{processors[0].Name, processors[1].Name}

	s.visit("devices")
	s.until(`document.querySelectorAll(".card").length >= 2`)
	if cards := s.texts(".card h3"); !slices.Equal(cards[:2], names) {
		t.Errorf("cards %q, want %q", cards, names)
	}

	// A search on each processor.
	s.visit("search?query=faith+hope&ranked=yes")
	s.until(`document.querySelectorAll(".hits li").length === 10`)
	value[bool](s, `[...document.querySelectorAll("button")].find((b) => b.innerText.startsWith("Compare")).click() ?? true`)
	s.until(`document.querySelectorAll("fieldset.setting").length === 2`)
	for i, name := range names {
		value[bool](s, fmt.Sprintf(`(() => { const f = document.querySelectorAll("fieldset.setting")[%d].querySelectorAll("select")[1]; f.value = %q; return f.dispatchEvent(new Event("change", { bubbles: true })); })()`, i, name))
	}
	s.do(chromedp.Click("button.primary"))
	s.until(`document.querySelectorAll(".way").length === 2 && document.querySelectorAll(".way .costs .name b").length === 2`)
	if said := s.text(".notice"); !strings.Contains(said, "return the same documents") {
		t.Errorf("comparison %q", said)
	}
	for i, name := range names {
		want := ask[struct {
			Way struct {
				Processor string
				Estimates []struct{ Processor string }
				Up        int `json:"bytes_up"`
				Stages    []struct{ Name string }
			}
		}](s, "/v1/indexes/kjv/inspect", fmt.Sprintf(`{"query":"faith hope","k":10,"processor":%q}`, name)).Way
		way := fmt.Sprintf(".columns .way:nth-of-type(%d) ", i+1)
		if ran := s.texts(way + ".costs .name:has(b)"); want.Processor != name || len(ran) != 1 || ran[0] != name+" ran" {
			t.Errorf("%s: %q ran, want %s", name, ran, want.Processor)
		}
		if rows := s.texts(way + ".costs .name"); len(rows) != len(want.Estimates)+1 { // and the run time
			t.Errorf("%s: %q, want %+v", name, rows, want.Estimates)
		}
		if up := strings.Contains(s.text(way), " up, "); up != (want.Up > 0) {
			t.Errorf("%s: transfers on the page: %v, want %d bytes", name, up, want.Up)
		}
		stages := s.text(way + ".stages ol")
		if (len(want.Stages) > 2) != (i == 1) {
			t.Errorf("%s has stages %+v", name, want.Stages)
		}
		for _, stage := range want.Stages {
			if !strings.Contains(stages, stage.Name+" ") {
				t.Errorf("%s: stages %q lack %s", name, stages, stage.Name)
			}
		}
	}
	s.shoot(1280, "processors-search")

	// Both processors answer: each chart of processors has two lines with values.
	stop := load(s)
	defer stop()
	more := loadOf(s, "/v1/indexes/kjv/inspect", fmt.Sprintf(`{"query":"faith hope","k":10,"processor":%q}`, names[1]))
	defer more()
	s.visit("live")
	s.choose("Update", "100")
	s.until(`(rows => rows.length === 2 && rows.every((r) => !/ (0|–)$/.test(r.innerText)))([...document.querySelectorAll("figure:first-of-type .legend li")])`)
	for i, row := range s.texts("figure:first-of-type .legend li") {
		if !strings.HasPrefix(row, names[i]) {
			t.Errorf("line %d is %q, want %s", i, row, names[i])
		}
	}
	for _, title := range []string{"Time of a query", "Batch size", "Busy", "Prediction error", "Memory"} {
		legend := value[string](s, fmt.Sprintf(`document.querySelector("figure[aria-label='%s'] .legend").textContent`, title))
		for _, name := range names {
			if !strings.Contains(legend, name) {
				t.Errorf("chart %s lacks %s: %q", title, name, legend)
			}
		}
	}
	s.until(`(window.looks = (window.looks ?? 0) + 1) > 100 && document.querySelectorAll(".uplot canvas").length === 9`) // some events, for a line
	s.shoot(1280, "processors-live")
}
