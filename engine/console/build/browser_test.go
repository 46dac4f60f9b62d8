package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// root is the folder of the repository.
const root = "../../.."

// program is the path of the command, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs(filepath.Join(root, ".build", "console"))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "heddle")
	out, err := exec.Command("go", "build", "-C", root, "-o", path, "./engine/cmd/heddle").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// site is a server and a page of a browser that looks at its console.
type site struct {
	*testing.T
	ctx  context.Context // context of the page
	dir  string
	url  string
	said []string // lines of the server before its address
}

// open starts the server by a command line and a browser. It skips the test without a browser.
func open(t *testing.T, files func(*site), arguments ...string) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it builds the command and drives a browser")
	}
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no chromium here (Debian's package chromium)")
	}
	s := &site{T: t, dir: t.TempDir()}
	files(s)
	s.serve(arguments)
	ctx, stop := chromedp.NewExecAllocator(t.Context(), chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.Headless,
		chromedp.Flag("force-prefers-reduced-motion", true), chromedp.Flag("font-render-hinting", "none"))
	t.Cleanup(stop)
	s.ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	s.watch()
	return s
}

// heddle runs the command in the folder of the site and returns its output.
func (s *site) heddle(arguments ...string) string {
	s.Helper()
	path, err := program()
	if err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command(path, arguments...)
	cmd.Dir = s.dir
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("heddle %v: %v: %s", arguments, err, err.(*exec.ExitError).Stderr)
	}
	return string(out)
}

// serve starts the server and reads its address.
func (s *site) serve(arguments []string) {
	s.Helper()
	path, err := program()
	if err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command(path, append(arguments, "--listen", "127.0.0.1:0")...)
	cmd.Dir = s.dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			s.Errorf("the server: %v: %s", err, said.String())
		}
	})
	lines := bufio.NewScanner(out)
	for s.url == "" && lines.Scan() {
		if url, is := strings.CutPrefix(lines.Text(), "listening on "); is {
			s.url = url
		} else {
			s.said = append(s.said, lines.Text())
		}
	}
	if s.url == "" {
		s.Fatalf("the server has no address: %s", said.String())
	}
	go io.Copy(io.Discard, out)
	for {
		resp, err := http.Get(s.url + "/readyz")
		if err != nil {
			s.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
}

// watch fails the test at each error of the page, such as a breach of the security policy.
func (s *site) watch() {
	if err := chromedp.Do(s.ctx); err != nil { // starts the browser
		s.Fatal(err)
	}
	messages := chromedp.Console(s.ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException || m.Type == chromedp.ConsoleWarning {
				if !strings.Contains(m.Text, "Failed to load resource") { // an answer with a status of an error
					s.Errorf("the page says %s: %s", m.Type, m.Text)
				}
			}
		}
	}()
}

// do runs steps in the page.
func (s *site) do(steps ...chromedp.Action[chromedp.Void]) {
	s.Helper()
	if err := chromedp.Do(s.ctx, steps...); err != nil {
		s.Fatal(err)
	}
}

// visit opens a page of the console and waits for its heading.
func (s *site) visit(page string) {
	s.Helper()
	s.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+"/console/#/"+page))
	s.until(`document.querySelector("main h1") !== null`)
}

// until waits for an expression to become true, up to the time-out of the test.
func (s *site) until(expression string) {
	s.Helper()
	deadline, limited := s.Deadline()
	for {
		is, err := chromedp.Run(s.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if is {
			return
		}
		if limited && time.Until(deadline) < 5*time.Second || s.ctx.Err() != nil { // a page that is being replaced has errors, too
			s.Fatalf("never true: %s (%v)", expression, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// value returns the value of an expression in the page.
func value[T any](s *site, expression string) T {
	s.Helper()
	v, err := chromedp.Run(s.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		s.Fatalf("%s: %v", expression, err)
	}
	return v
}

// text returns the text of the first element of a selector.
func (s *site) text(selector string) string {
	s.Helper()
	return value[string](s, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// texts returns the texts of all elements of a selector.
func (s *site) texts(selector string) []string {
	s.Helper()
	return value[[]string](s, fmt.Sprintf("[...document.querySelectorAll(%q)].map((x) => x.innerText)", selector))
}

// fill replaces the text of a field as keys do.
func (s *site) fill(selector, text string) {
	s.Helper()
	s.do(chromedp.WaitVisible(selector), chromedp.Focus(selector))
	value[bool](s, fmt.Sprintf("document.querySelector(%q).select() ?? true", selector))
	s.do(chromedp.KeyEvent("\b"), chromedp.SendKeys(selector, text))
}

// choose sets the value of a select element with a label.
func (s *site) choose(label, option string) {
	s.Helper()
	value[bool](s, fmt.Sprintf(`(() => {
		const field = [...document.querySelectorAll("label")].find((l) => l.querySelector("span")?.innerText === %q).querySelector("select");
		field.value = %q;
		return field.dispatchEvent(new Event("change", { bubbles: true }));
	})()`, label, option))
}

// ask sends a request to the server and decodes the reply.
func ask[T any](s *site, path, body string) (out T) {
	s.Helper()
	resp, err := http.Get(s.url + path)
	if body != "" {
		resp, err = http.Post(s.url+path, "application/json", strings.NewReader(body))
	}
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode != http.StatusOK {
		s.Fatalf("%s: %d %v", path, resp.StatusCode, err)
	}
	return out
}

// write writes a file of the site.
func (s *site) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}
