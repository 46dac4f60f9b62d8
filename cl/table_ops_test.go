package cl

// bitmapOps are the operations of the tests.
var bitmapOps = operations{bitmapOperation, primitiveOperation}
