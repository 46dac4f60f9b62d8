package main

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

func newBitmap(a *App) *cobra.Command {
	return group("bitmap", "Build bitmap tables and ask predicates of them",
		`Bitmap works on .hdb files: tables whose columns are cut into bins, with a compressed
bit vector for the rows of each bin, and the values themselves beside, so that answers
are exact.`,
		newBitmapBuild(a), newBitmapQuery(a), newBitmapInfo(a), newBitmapVerify(a))
}

// checkOutput refuses a path that a finished file cannot take the place of, or should
// not: a folder, a device, one of the inputs.
func checkOutput(path string, inputs []string) error {
	out, err := os.Stat(path)
	if err != nil {
		return nil // it does not exist, or whoever makes it says why
	}
	if !out.Mode().IsRegular() {
		return &fs.PathError{Op: "write", Path: path, Err: fmt.Errorf("not a regular file")}
	}
	for _, name := range inputs {
		if in, err := os.Stat(name); err == nil && os.SameFile(in, out) {
			return fmt.Errorf("%s is an input, which the output would take the place of", path)
		}
	}
	return nil
}
