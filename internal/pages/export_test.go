package pages

// Address is where memory begins.
var Address = address
