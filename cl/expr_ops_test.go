package cl

// exprOps are the operations of the tests.
var exprOps = operations{listsOperation, expressionOperation}
