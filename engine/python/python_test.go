// Package python_test runs the tests of the Python package, and installs it from a wheel. The library and the
// program come from .ci/test on_python.
package python_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"heddle/engine/plan/testneeds"
)

// python returns Debian's interpreter, for which python3-numpy is installed, or the first one of the path.
func python(t *testing.T) string {
	testneeds.Host(t)
	if os.Getenv("HEDDLE_LIBRARY") == "" {
		t.Skip("HEDDLE_LIBRARY names no library of engine/capi: .ci/test on_python builds it")
	}
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no python3 here")
	return ""
}

// run runs a command in a folder, with further variables, and returns its output.
func run(t *testing.T, dir string, variables []string, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), variables...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return string(out)
}

// source is the variable by which Python finds the package.
func source(t *testing.T) string {
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	return "PYTHONPATH=" + dir
}

// TestPython runs the tests in Python. Package arrow of Go reads the stream that one of them wrote.
func TestPython(t *testing.T) {
	stream := filepath.Join(t.TempDir(), "years.arrow")
	t.Log(run(t, ".", []string{source(t), "HEDDLE_ARROW=" + stream, "PYTHONDONTWRITEBYTECODE=1"}, python(t), "-W", "error", "-m", "unittest", "discover", "-s", "tests"))
	file, err := os.ReadFile(stream)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var rows []string
	for r.Next() {
		years, prices := r.RecordBatch().Column(0), r.RecordBatch().Column(2)
		for i := range years.Len() {
			rows = append(rows, years.ValueStr(i)+" "+prices.ValueStr(i))
		}
	}
	if want := "1851 1.5,1847 " + array.NullValueStr + ",1863 4"; r.Err() != nil || strings.Join(rows, ",") != want {
		t.Errorf("rows %v, %v, want %s", rows, r.Err(), want)
	}
}

// TestTypes checks the type hints.
func TestTypes(t *testing.T) {
	python(t)
	mypy, err := exec.LookPath("mypy")
	if err != nil {
		t.Skip("no mypy here (Debian's mypy)")
	}
	run(t, ".", nil, mypy, "--strict", "--cache-dir", t.TempDir(), "heddle")
}

// TestWheel installs a wheel without an index, and searches with it.
func TestWheel(t *testing.T) {
	interpreter, dir := python(t), t.TempDir()
	wheel := strings.TrimSpace(run(t, "../..", nil, "go", "run", "./.ci/wheel", os.Getenv("HEDDLE_LIBRARY"), "0.0.0~202611291200.0123abcd", dir))
	if !strings.HasPrefix(wheel, "heddle-0.0.0.dev202611291200+g0123abcd-py3-none-manylinux_2_") {
		t.Errorf("wheel %s", wheel)
	}
	run(t, dir, nil, interpreter, "-m", "venv", "--without-pip", "venv")
	inside := filepath.Join(dir, "venv/bin/python")
	run(t, dir, nil, interpreter, "-m", "pip", "--python", inside, "install", "--no-index", "--no-deps", "--quiet", "--disable-pip-version-check", wheel)
	// pip compares the files with RECORD when it removes the package; here the test does.
	got := run(t, dir, []string{"HEDDLE_LIBRARY="}, inside, "-c", `
import base64, hashlib, importlib.metadata, pathlib, heddle
for file in importlib.metadata.files("heddle"):
    if file.hash:
        digest = hashlib.sha256(file.read_binary()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == file.hash.value, file
pathlib.Path("x.tsv").write_text("a\tred loom\nb\tblue loom\n")
heddle.build_index("x.hdl", ["x.tsv"], format="text")
with heddle.Engine(settings={"devices.backend": "host"}) as engine, heddle.Index("x.hdl", engine) as index:
    print(index.search(["blue"], k=1, names=True).names, importlib.metadata.version("heddle"))
`)
	if got != "[['b']] 0.0.0.dev202611291200+g0123abcd\n" {
		t.Errorf("output %q", got)
	}
}
