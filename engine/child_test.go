package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/plan"
)

// child names an index file; the test binary then answers from it and ends. A
// process loads OpenCL once, so broken installations need their own.
const child = "HEDDLE_ENGINE_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(child); path != "" {
		if err := withoutOpenCL(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("answered on pure Go")
		os.Exit(0)
	}
	if folder := os.Getenv(truncating); folder != "" {
		if err := truncated(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("still alive")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// withoutOpenCL is the program for a machine that has no OpenCL.
func withoutOpenCL(path string) error {
	ctx := context.Background()
	x, err := open(ctx, path, Options{})
	if err != nil {
		return err
	}
	defer x.Close()
	if x.Backend().Kind != "host" {
		return fmt.Errorf("queries run on %+v", x.Backend())
	}
	for _, q := range testCorpus().queries(10) {
		a, err := x.search(ctx, q, searchOptions{})
		if err != nil {
			return err
		}
		if err := testCorpus().check(q, a.Count, a.Docs, false); err != nil {
			return err
		}
	}
	var device *plan.DeviceError
	_, err = open(ctx, path, Options{Backend: "opencl"})
	if !errors.Is(err, plan.ErrNoDevice) || !errors.As(err, &device) {
		return fmt.Errorf("opencl without OpenCL: %v", err)
	}
	fmt.Println(err)
	return nil
}

// TestWithoutOpenCL runs on machines where OpenCL is missing or broken.
func TestWithoutOpenCL(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	drivers := func(content ...string) string {
		folder := t.TempDir()
		for i, c := range content {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint("driver", i, ".icd")), []byte(c+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return folder
	}
	notALibrary := filepath.Join(t.TempDir(), "libOpenCL.so")
	if err := os.WriteFile(notALibrary, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string]string{
		"no library":             "HEDDLE_OPENCL_LIBRARY=/nonexistent/libOpenCL.so.1",
		"no library, but a file": "HEDDLE_OPENCL_LIBRARY=" + notALibrary,
		"another library":        "HEDDLE_OPENCL_LIBRARY=libc.so.6",
		"no driver":              "OCL_ICD_VENDORS=" + drivers(),
		"a driver that is gone":  "OCL_ICD_VENDORS=" + drivers("/nonexistent/libdriver.so"),
		"drivers that are none":  "OCL_ICD_VENDORS=" + drivers("libc.so.6", notALibrary, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(self)
			c.Env = append(os.Environ(), child+"="+indexFile(t), env)
			out, err := c.CombinedOutput()
			if strings.HasPrefix(env, "OCL_ICD_VENDORS") && (strings.Contains(string(out), "Kind:opencl") || strings.Contains(string(out), "opencl without OpenCL: <nil>")) {
				t.Skip("the loader of this machine finds drivers beside those that OCL_ICD_VENDORS names")
			}
			if err != nil || !strings.HasSuffix(string(out), "answered on pure Go\n") {
				t.Errorf("with %s: %v\n%s", env, err, out)
			}
			t.Logf("%s", out)
		})
	}
}
