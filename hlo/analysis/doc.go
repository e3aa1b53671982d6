// Package analysis answers questions about modules without changing them.
//
//	question                                                     answer                        file
//	Which computations have side effects?                        SideEffects                   effects.go
//	Which run as computations, which does the entry reach?       Executed, Reachable           executed.go
//	Which belong to a fusion or an asynchronous instruction?     Closed                        closed.go
//	Which parts of values does the result depend on?             Live                          live.go
//	What must come before or after an instruction?               Dependencies                  depend.go
//	Must one instruction come before another, with new edges?    Ways                          ways.go
//	Which instructions does everything come before or after?     Bottlenecks                   bottleneck.go
//	What can run beside a chain, and would a change narrow it?   Windows                       window.go
//	Do a chain and an instruction beside it use one buffer?      Race                          race.go
//	What does an instruction, or a program, cost?                Cost, Costs, Executions       cost.go
//	How long does an exchange between devices take?              Exchange, Link                network.go
//	Does a while loop count, and how far?                        Loop                          loop.go
//	Which results may have the memory of an operand?             Sharing, SameBytes            share.go, bytes.go
//	What does a reduction fold, and is a concatenation a roll?   FoldedPoints, Roll            folds.go, roll.go
//
// A pass asks through pass.Fact, which keeps an answer until the module changes.
package analysis
