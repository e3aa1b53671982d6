// Package spmd makes the program of one device out of a program for many.
//
//	sdy-import             Shardy's custom calls and attributes become shardings and SPMD custom calls   sdy*.go
//	sharding-propagation   every instruction gets a sharding                                            propagate*.go
//	spmd-partitioning      the program of one device                                                    partition*.go, a file for each family of ops
//
// A sharding is a [Tiling]: for each dimension of an array a list of mesh axes, major first. An axis is one prime factor of the number of
// devices, so that a dimension is split further, or less, by adding to its list or cutting it. What XLA writes as grids of devices, and Shardy as
// named axes, is read into this form and written back as a grid.
//
// Which dimensions of operands and results belong together is a list of factors for each op ([factor]), which propagation and the general
// method of the partitioner both read. Ops that need more (windows, gathers, sorts) have a function of their own.
package spmd
