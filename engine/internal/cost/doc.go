// Package cost predicts the run time of queries, alone and as part of a batch.
//
// A Model covers one kind of query on one backend and one index, or selections on one
// bitmap table. Its estimate is linear in a Metric of the query's lists (Wu et al. 2010,
// section V.B.6; Ding et al. 2009, section 9) or in the counts of a Selection. Factors by
// the size of each feature correct the linear part, because costs come in steps. Fit finds
// both from samples: non-negative costs with the least squares of relative errors, and
// factors by small steps towards the measured times. Learn and LearnBatch continue these
// steps while queries run. A filter bounds the effect of a single slow run by the usual
// error. The state has a fixed size: about 12 KiB for a model and 6 KiB more for each fitted
// metric.
//
// Regress computes an ordinary least-squares regression with R² and p values for reports.
//
// A Book holds the models of an index. It is stored beside the index as JSON.
package cost
