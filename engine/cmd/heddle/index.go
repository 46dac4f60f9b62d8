package main

import "github.com/spf13/cobra"

func newIndex(a *App) *cobra.Command {
	return group("index", "Build, check and look into index files",
		`Index works on .hdl files: inverted indices with lists, frequencies, terms,
document names and document lengths.`,
		newIndexBuild(a), newIndexInfo(a), newIndexVerify(a), newIndexDump(a))
}
