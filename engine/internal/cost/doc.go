// Package cost says what queries take before they run: alone, and as part of a batch.
//
// A Model is of one kind of query on one backend and one index. Its estimate is linear in a
// Metric of the query's lists (Wu et al. 2010, section V.B.6; Ding et al. 2009, section 9),
// times factors by the size of each feature, since costs come in steps. Fit finds both from
// samples: costs by least squares of relative errors without negative ones, factors by
// steps towards what samples took. Learn and LearnBatch go on with the steps while queries
// run; a filter keeps single runs that took far too long from counting for more than what
// errors usually are. The state is of fixed size, about 12 KiB a model and 6 KiB more for
// each metric that was fitted.
//
// Regress is ordinary least squares with R² and p values, for reports.
//
// A Book has the models of an index, and is kept beside it as JSON.
package cost
