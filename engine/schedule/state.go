package schedule

// jobState is the scheduler's part of a job.
type jobState struct{}

// batchState is the scheduler's part of a batch.
type batchState struct{}
