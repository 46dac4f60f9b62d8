package main

import "github.com/spf13/cobra"

func newBitmap(a *App) *cobra.Command {
	return group("bitmap", "Build bitmap tables and ask predicates of them",
		`Bitmap works on .hdb files: tables whose columns are cut into bins, with a compressed
bit vector for the rows of each bin, and the values themselves beside, so that answers
are exact.`,
		newBitmapBuild(a), newBitmapQuery(a), newBitmapInfo(a), newBitmapVerify(a))
}
