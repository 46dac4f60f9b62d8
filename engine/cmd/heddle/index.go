package main

import "github.com/spf13/cobra"

func newIndex(a *App) *cobra.Command {
	return group("index", "Build, inspect and check index files",
		`Index works on .hdl files. An index file contains posting lists with frequencies or
impacts, terms, and the names and lengths of documents.`,
		newIndexBuild(a), newIndexInfo(a), newIndexVerify(a), newIndexDump(a), newIndexDocument(a), newIndexExport(a))
}
