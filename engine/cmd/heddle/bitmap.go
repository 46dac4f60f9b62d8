package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/spf13/cobra"

	"heddle/engine/file/container"
	"heddle/engine/table/rowset"
)

func newBitmap(a *App) *cobra.Command {
	return group("bitmap", "Build, query, extend, inspect, check and convert bitmap tables",
		`Bitmap works on .hdb files. A table file divides the values of each column into bins,
and contains a compressed bit vector for the rows of each bin. It also contains the
values, so that answers are exact. A folder of .hdb files with equal columns is one table:
the rows of all files, by their names.`,
		newBitmapBuild(a), newBitmapQuery(a), newBitmapAppend(a), newBitmapInfo(a), newBitmapVerify(a), newBitmapConvert(a))
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

// forcible names the flag that replaces a file which a command refuses to replace.
func forcible(err error) error {
	if errors.Is(err, container.ErrForeign) || errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w (--force replaces it)", err)
	}
	return err
}

// checkRoaring reports why a Roaring bitmap must not be written at path, where a regular
// file may be: only an empty file and another Roaring bitmap may be replaced.
func checkRoaring(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return err
	}
	if _, err = rowset.ReadRoaring(f, math.MaxUint32); errors.Is(err, rowset.ErrRoaring) {
		return forcible(fmt.Errorf("%s: %w, and not a Roaring bitmap: choose another output, or remove it", path, fs.ErrExist))
	}
	return err
}
