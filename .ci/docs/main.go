// Command docs builds a static site from the pages (Markdown) of a tree, and reports the links that lead nowhere.
//
//	git ls-files '*.md' | go run ./.ci/docs ROOT OUT
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"log"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: git ls-files '*.md' | docs ROOT OUT")
	}
	var names []string
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		names = append(names, lines.Text())
	}
	if err := build(os.Args[1], os.Args[2], names); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d pages in %s\n", len(names), os.Args[2])
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// page is a page of the tree.
type page struct {
	name, title string
	source      []byte
	tree        ast.Node
	anchors     anchors
}

// build writes the pages of root into out. Names are their paths in root, with slashes.
func build(root, out string, names []string) error {
	pages := map[string]*page{}
	for _, name := range names {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		p := &page{name: name, source: source, anchors: anchors{}}
		p.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(p.anchors))))
		p.title = cmp.Or(p.heading(), name)
		pages[name] = p
	}
	s := &site{root: root, out: out, pages: pages}
	for _, name := range names {
		if err := s.write(pages[name], names); err != nil {
			return err
		}
	}
	return errors.Join(s.wrong...)
}

// heading is the text of the first heading.
func (p *page) heading() (title string) {
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			return string(h.Lines().Value(p.source))
		}
	}
	return ""
}

// anchors are the ids of headings, as GitHub makes them: small letters, without marks, a hyphen for a space, and a
// number for a further heading of the same text.
type anchors map[string]bool

func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, string(value))
	free := id
	for n := 1; a[free]; n++ {
		free = fmt.Sprintf("%s-%d", id, n)
	}
	a[free] = true
	return []byte(free)
}

func (a anchors) Put(value []byte) { a[string(value)] = true }

// site is a site that is being written.
type site struct {
	root, out string
	pages     map[string]*page
	wrong     []error
}

// write writes a page. A page README.md is the index of its folder.
func (s *site) write(p *page, names []string) error {
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Link:
			n.Destination, err = s.follow(p, n.Destination)
		case *ast.Image:
			n.Destination, err = s.follow(p, n.Destination)
		}
		return ast.WalkContinue, err
	})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s – heddle</title>\n<style>%s</style></head>\n<body><nav><ul>\n", html.EscapeString(p.title), style)
	for _, name := range names {
		here := ""
		if name == p.name {
			here = ` aria-current="page"`
		}
		fmt.Fprintf(&b, "<li><a href=\"%s\"%s>%s</a></li>\n", relative(p.name, target(name)), here, html.EscapeString(s.pages[name].title))
	}
	b.WriteString("</ul></nav>\n<main>\n")
	if err := markdown.Renderer().Render(&b, p.source, p.tree); err != nil {
		return err
	}
	b.WriteString("</main></body></html>\n")
	return s.file(target(p.name), b.Bytes())
}

func (s *site) file(name string, data []byte) error {
	at := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, data, 0o644)
}

// target is the file of a page in the site.
func target(name string) string {
	if path.Base(name) == "README.md" {
		return path.Join(path.Dir(name), "index.html")
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

// relative is the link from a page to a file of the site.
func relative(from, to string) string {
	up := strings.Repeat("../", strings.Count(from, "/"))
	return up + to
}

// follow returns the destination of a link in the site. It notes one that leads nowhere, and copies a file that is no page.
func (s *site) follow(p *page, destination []byte) ([]byte, error) {
	u, err := url.Parse(string(destination))
	if err != nil || u.Scheme != "" || u.Host != "" {
		return destination, err
	}
	name := path.Join(path.Dir(p.name), u.Path)
	if u.Path == "" {
		name = p.name
	}
	lost := func(why string) ([]byte, error) {
		s.wrong = append(s.wrong, fmt.Errorf("%s: %s: %s", p.name, destination, why))
		return destination, nil
	}
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return lost("no such file")
	}
	if info.IsDir() {
		if s.pages[path.Join(name, "README.md")] == nil {
			return nil, nil // a folder of sources, which the site does not have: a link to this page
		}
		name = path.Join(name, "README.md")
	}
	if to := s.pages[name]; to != nil {
		if u.Fragment != "" && !to.anchors[u.Fragment] {
			return lost("no such heading")
		}
		u.Path = relative(p.name, target(name))
		return []byte(u.String()), nil
	}
	data, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err == nil {
		err = s.file(name, data)
	}
	return []byte(relative(p.name, name)), err
}

const style = `body{font:16px/1.55 system-ui,sans-serif;margin:0;display:grid;grid-template-columns:15rem minmax(0,1fr);color:#1a1f24;background:#fff}
nav{border-right:1px solid #dde1e5;padding:1rem;font-size:.9rem}nav ul{list-style:none;margin:0;padding:0;position:sticky;top:1rem}nav li{margin:.3rem 0}
nav a[aria-current]{font-weight:650}main{padding:1rem 2rem;max-width:62rem}a{color:#0b5a8f}img{max-width:100%}
pre{background:#eef0f2;padding:.7rem;overflow-x:auto;border-radius:6px}code{font-size:.9em}table{border-collapse:collapse;display:block;overflow-x:auto}
th,td{border:1px solid #dde1e5;padding:.3rem .6rem;text-align:left;vertical-align:top}
@media(max-width:760px){body{display:block}nav{border-right:0;border-bottom:1px solid #dde1e5}}
@media(prefers-color-scheme:dark){body{color:#e6eaee;background:#171d23}a{color:#7cbdf0}pre{background:#1f262d}nav,th,td{border-color:#2b343d}}`
