// Package floatflags reads which exceptions a thread's vector arithmetic has met. Tests use it to hold code to what costs nothing: a result that is denormal, or an operand, takes
// some processors a hundred cycles, and others none, so that no measurement on one machine tells.
package floatflags
