package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/failure"
	"heddle/engine/plan/testneeds"
)

// TestCodes: each code of the engine has a number in C.
func TestCodes(t *testing.T) {
	types, err := os.ReadFile("types.h")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("library.go")
	if err != nil {
		t.Fatal(err)
	}
	for code := failure.OK; code <= failure.Internal; code++ {
		name := "HEDDLE_" + strings.ToUpper(code.String())
		if !strings.Contains(string(types), "\t"+name+" = ") || !strings.Contains(string(table), " C."+name+",\n") {
			t.Errorf("types.h or codes in library.go lacks %s", name)
		}
	}
}

// library returns the folder of the built library. Its build compiles all packages once more, so .ci/test makes it.
func library(t *testing.T) string {
	testneeds.Host(t)
	file := os.Getenv("HEDDLE_LIBRARY")
	if file == "" {
		t.Skip("HEDDLE_LIBRARY names no library: .ci/test on_python builds it")
	}
	return filepath.Dir(file)
}

// TestReadme compiles the program of README.md.
func TestReadme(t *testing.T) {
	library(t)
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(page), "```c\n")
	program, _, _ = strings.Cut(program, "```")
	gcc := exec.Command("gcc", "-Wall", "-Wextra", "-Werror", "-I.", "-x", "c", "-fsyntax-only", "-")
	gcc.Stdin = strings.NewReader(program)
	if out, err := gcc.CombinedOutput(); err != nil || !strings.Contains(program, "heddle_search") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestProgram runs a program in C, plain and with the address sanitizer, which also finds memory of the library that
// was not released.
func TestProgram(t *testing.T) {
	folder := library(t)
	for name, flags := range map[string][]string{"plain": {"-O1"}, "sanitized": {"-g", "-fsanitize=address,undefined"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program := filepath.Join(dir, "program")
			args := append(flags, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-I.", "-I"+folder, "testdata/program.c", "-o", program,
				"-L"+folder, "-lheddle", "-lm", "-pthread", "-Wl,-rpath,"+folder)
			if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
				t.Fatalf("gcc: %v\n%s", err, out)
			}
			run := exec.Command(program)
			run.Dir = dir
			if out, err := run.CombinedOutput(); err != nil || string(out) != "passed\n" {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
