package main

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

func newBitmap(a *App) *cobra.Command {
	return group("bitmap", "Build, query, inspect and check bitmap tables",
		`Bitmap works on .hdb files. A table file divides the values of each column into bins,
and contains a compressed bit vector for the rows of each bin. It also contains the
values, so that answers are exact.`,
		newBitmapBuild(a), newBitmapQuery(a), newBitmapInfo(a), newBitmapVerify(a))
}

// checkOutput rejects an output path that is a folder, a device, or one of the inputs.
func checkOutput(path string, inputs []string) error {
	out, err := os.Stat(path)
	if err != nil {
		return nil // it does not exist, or its creation will fail
	}
	if !out.Mode().IsRegular() {
		return &fs.PathError{Op: "write", Path: path, Err: fmt.Errorf("not a regular file")}
	}
	for _, name := range inputs {
		if in, err := os.Stat(name); err == nil && os.SameFile(in, out) {
			return fmt.Errorf("%s is both an input and the output: choose another output", path)
		}
	}
	return nil
}
