package cl

// listsOps are the operations of the tests.
var listsOps = operations{listsOperation}
