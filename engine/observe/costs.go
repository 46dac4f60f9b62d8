package observe

// KindCosts are the measured costs of a kind of queries, and the models fitted to them.
type KindCosts struct {
	Kind       string           // as in Explanation.Kind
	Processors []ProcessorCosts // one entry for each model: equal devices share a model
	// Differences of the first processor less each other one.
	Differences []CostDifference
}

// ProcessorCosts describes the model of a processor: the times of queries, each alone, and of
// batches.
type ProcessorCosts struct {
	Processor        string
	Queries, Batches int // queries and batches that were measured
	// BatchError is the mean relative error of estimates of batches; 0 without batches.
	BatchError float64
	Fits       []CostFit // one for each metric
	Best       string    // metric with the smallest error Corrected
}

// CostFit is a fit of run times in milliseconds to a metric.
type CostFit struct {
	Regression
	// Linear and Corrected are mean relative errors on queries outside the fit: of the
	// regression, and of the estimates that the scheduler makes from it.
	Linear, Corrected float64
}

// CostDifference is the run time of queries on one processor less the run time on another, each
// query alone (Wu et al. 2010, section V.B.6).
type CostDifference struct {
	Slow, Fast string // processors
	Queries    int    // queries that ran on both processors
	// Faster is the fraction of queries that took less time on Fast, Saved the fraction of the
	// run time on Slow that they saved.
	Faster, Saved float64
	// Regressions of the difference in milliseconds, one for each metric (Table III).
	Regressions []Regression
}

// Regression is a least-squares regression of milliseconds on the features of a metric.
type Regression struct {
	Metric       string    // "los", "uboc", "uboct" or "ding"
	Features     []string  // names of the values of the metric
	Queries      int       // samples
	Intercept    float64   // milliseconds
	Coefficients []float64 // milliseconds for each of Features; 0 for a redundant one
	R2           float64   // explained part of the variance
	// P is the p value of the regression (F test), and Ps are the p values of the
	// coefficients (t tests). They are 1 if there are too few queries, and 0 below 1e-300.
	P  float64
	Ps []float64
}
