// Package serve answers queries on the processors of an engine. A Pool owns the processors
// and one scheduler, which indexes and tables share. A generation is the content of an index
// from one reload to the next; it knows its store on each processor. Jobs of the scheduler
// carry a Work, which says how long the job takes on a processor and runs it there.
package serve
