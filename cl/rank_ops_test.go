package cl

// rankOps are the operations of the tests.
var rankOps = operations{listsOperation, rankOperation}
