package cl

// primitiveOps are the operations of the tests.
var primitiveOps = operations{primitiveOperation}
