// Package shared opens and replaces files that other processes may have open.
//
// On Unix a rename replaces a file that is open or mapped. Windows refuses it for a file that a process has
// mapped into memory, or has opened without leave to delete it (FILE_SHARE_DELETE), which os.Open does not
// give and Open does. There, Replace first moves a mapped file aside, to its name with ".replaced" and a number,
// which readers of the file do not notice. It cannot move a file that os.Open has opened: it tries for a second. Sweep deletes it when no process has it any more. Between the two
// renames no file has the name; a process that is killed there leaves the former file under the longer name.
package shared
