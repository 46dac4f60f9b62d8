package server

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/bodies"
	"heddle/engine/server/catalog"
)

// TestLoad loads a file under a new name and under one in service, and unloads it, while clients
// ask for it.
func TestLoad(t *testing.T) {
	r := run(t, Options{Settings: func() []*api.Setting { return []*api.Setting{{Key: "server.max_k", Value: "7", Origin: "default"}} }})
	r.opt.Root = r.dir
	url, admin, done := r.listen(t.Context())
	ask := func(method, path, body string, want int) string {
		t.Helper()
		r.url = url
		if strings.HasPrefix(path, "/v1/admin/") {
			r.url = admin
		}
		got := r.do(method, path, body)
		if got.status != want {
			t.Errorf("%s %s: %d %s, want %d", path, body, got.status, got.body, want)
		}
		return got.body
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(r.path(from), r.path(to)); err != nil {
			t.Fatal(err)
		}
	}
	move("looms.hdl", "first.hdl")
	r.buildIndex("d\ta loom\n")
	ask("GET", "/v1/indexes/more/ready", "", http.StatusNotFound)
	ask("POST", "/v1/admin/indexes/more/unload", "", http.StatusNotFound)
	ask("POST", "/v1/admin/indexes/m%20re/load", `{"path":"first.hdl"}`, http.StatusBadRequest)
	ask("POST", "/v1/admin/indexes/more/load", `{"path":"absent.hdl"}`, http.StatusNotFound)
	for _, c := range [][2]string{{"indexes", "loans.hdb"}, {"tables", "first.hdl"}, {"indexes", "looms.tsv"}} {
		got := ask("POST", "/v1/admin/"+c[0]+"/more/load", `{"path":"`+c[1]+`"}`, http.StatusBadRequest)
		if !strings.Contains(got, c[1]+": not an .hd") || !strings.Contains(got, `"code":"invalid_option"`) {
			t.Errorf("load %s of %s: %s", c[0], c[1], got)
		}
	}
	ask("GET", "/v1/indexes/more/ready", "", http.StatusNotFound)
	ask("GET", "/readyz", "", http.StatusOK)

	move("loans.hdb", "kept")
	for name, text := range map[string]string{"not an .hdb file but an .hdl file": string(mustRead(t, r.path("first.hdl"))), `not an .hdb file: it starts with \"a,b\"`: "a,b", `not an .hdb file: it starts with \"\"`: ""} {
		if err := os.WriteFile(r.path("loans.hdb"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := ask("POST", "/v1/admin/tables/loans/reload", "", http.StatusBadRequest); !strings.Contains(got, "loans.hdb: "+name) || !strings.Contains(got, `"code":"invalid_option"`) {
			t.Errorf("reload: %s, want %s", got, name)
		}
		ask("POST", "/v1/tables/loans/count", `{"where":"days > 30"}`, http.StatusOK)
	}
	move("kept", "loans.hdb")

	first := ask("POST", "/v1/admin/indexes/more/load", `{"path":"first.hdl"}`, http.StatusOK)
	ask("GET", "/v1/indexes/more/ready", "", http.StatusOK)
	const count = `{"query":"loom","count":true}`
	if got := ask("POST", "/v1/indexes/more/match", count, http.StatusOK); !strings.HasPrefix(got, `{"count":2,`) {
		t.Errorf("the loaded file: %s", got)
	}
	var loads sync.WaitGroup
	for range 2 {
		loads.Go(func() {
			resp, err := http.Post(admin+"/v1/admin/indexes/more/load", bodies.JSON, strings.NewReader(`{"path":"looms.hdl"}`))
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("two loads at once: %v, %v", resp, err)
				return
			}
			resp.Body.Close()
		})
	}
	for range 20 {
		if got := ask("POST", "/v1/indexes/more/match", count, http.StatusOK); !strings.HasPrefix(got, `{"count":2,`) && !strings.HasPrefix(got, `{"count":1,`) {
			t.Errorf("during a load: %s", got)
		}
	}
	loads.Wait()
	if got := ask("POST", "/v1/indexes/more/match", count, http.StatusOK); !strings.HasPrefix(got, `{"count":1,`) {
		t.Errorf("the second file: %s", got)
	}
	if again := ask("POST", "/v1/admin/indexes/more/reload", "", http.StatusOK); again == first {
		t.Errorf("checksum %s of both files", again)
	}
	if err := r.Reload(t.Context(), r.path("looms.hdl")); err != nil {
		t.Error(err)
	}
	ask("POST", "/v1/admin/indexes/more/unload", "", http.StatusOK)
	ask("POST", "/v1/indexes/more/match", count, http.StatusNotFound)
	ask("GET", "/readyz", "", http.StatusOK)

	ask("POST", "/v1/admin/tables/more/load", `{"path":"loans.hdb"}`, http.StatusOK)
	ask("GET", "/v1/tables/more/ready", "", http.StatusOK)
	ask("POST", "/v1/tables/more/count", `{"where":"days > 30"}`, http.StatusOK)
	files := r.Files()
	for _, name := range []string{"looms.hdl", "loans.hdb"} {
		if state, err := os.Stat(r.path(name)); err != nil || len(files) != 2 || files[r.path(name)] == nil || !os.SameFile(files[r.path(name)], state) {
			t.Errorf("files %v, %v", files, err)
		}
	}
	ask("POST", "/v1/admin/tables/more/unload", "", http.StatusOK)
	ask("GET", "/v1/tables/more/ready", "", http.StatusNotFound)
	if got := ask("GET", "/v1/admin/config", "", http.StatusOK); got != `{"settings":[{"key":"server.max_k","value":"7","origin":"default"}]}`+"\n" {
		t.Errorf("settings: %s", got)
	}
	ask("POST", "/v1/admin/drain", "", http.StatusOK)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestRoot asks for files outside of the folder of administration.
func TestRoot(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "inside")
	for _, d := range []string{inside, filepath.Join(inside, "deep")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{filepath.Join(dir, "secret"), filepath.Join(inside, "a.hdl"), filepath.Join(inside, "deep", "b.hdl")} {
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for to, link := range map[string]string{"../secret": "out", "a.hdl": "in"} {
		if err := os.Symlink(to, filepath.Join(inside, link)); err != nil {
			t.Fatal(err)
		}
	}
	below := func(root, path string) (catalog.Place, error) {
		s, err := New(nil, Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		return s.below(path)
	}
	for path, want := range map[string]string{
		"a.hdl": "ok", "deep/b.hdl": "ok", "deep/../a.hdl": "ok", "in": "ok",
		"../secret": "forbidden", "deep/../../secret": "forbidden", "out": "forbidden", filepath.Join(dir, "secret"): "forbidden",
		filepath.Join(inside, "a.hdl"): "forbidden", "": "invalid_option", "deep": "invalid_option", "absent": "not_found",
	} {
		got, err := below(inside, path)
		if code := engine.CodeOf(err).String(); code != want {
			t.Errorf("%s: %s, %v, want %s", path, got, err, want)
		}
	}
	if _, err := below("", "a.hdl"); engine.CodeOf(err) != engine.Forbidden {
		t.Errorf("without a folder: %v", err)
	}
}

// TestRootLinks loads by links that lead through the folder, and that change while they are followed. No file
// outside of the folder comes into service.
func TestRootLinks(t *testing.T) {
	root := t.TempDir()
	r := run(t, Options{Root: root})
	inside := r.indexes.List()[0].Now().Checksum
	text := mustRead(t, r.path("looms.hdl"))
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Dir(root)
	r.buildIndex("z\toutside\n")
	must(os.WriteFile(filepath.Join(root, "x.hdl"), text, 0o644), os.MkdirAll(filepath.Join(root, "deep", "er"), 0o755), os.Symlink("deep/er", filepath.Join(root, "a")),
		os.Rename(r.path("looms.hdl"), filepath.Join(outside, "x.hdl")))
	admin := adminService{r.Server}
	load := func(path string) (string, error) {
		got, err := admin.LoadIndex(t.Context(), &api.LoadIndexRequest{Index: "looms", Path: path})
		return got.GetChecksum(), err
	}
	if got, err := load("a/../../x.hdl"); err != nil || got != inside {
		t.Errorf("through a link: checksum %s, %v, want %s", got, err, inside)
	}
	ended := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		link, next := filepath.Join(root, "swapped"), filepath.Join(root, "next")
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			default:
			}
			if os.Symlink([]string{".", ".."}[i%2], next) == nil {
				os.Rename(next, link)
			}
		}
	})
	for range 100 {
		if got, err := load("swapped/x.hdl"); err == nil && got != inside {
			t.Fatal("a file outside of the folder is in service")
		}
	}
	close(ended)
	swapper.Wait()
}
