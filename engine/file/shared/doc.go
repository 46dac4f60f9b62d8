// Package shared opens and replaces files that other processes may have open.
//
// On Unix a rename replaces a file that is open or mapped. Windows refuses it for a file that a process has
// mapped into memory, or has opened without leave to delete it (FILE_SHARE_DELETE), which os.Open does not
// give. There, Replace first moves such a file aside, to its name with ".replaced" and a number, which
// readers of the file do not notice. Sweep deletes it when no process has it any more. Between the two
// renames no file has the name; a process that is killed there leaves the former file under the longer name.
package shared
