// Package rules reads rewrites that are written as algebra:
//
//	A03 (add (add x c1:const) c2:const) => (add x (fold add c1 c2))  if integer(x)
//	    -- constants gather on the right
//
// A rule has an id, a left side, a right side, perhaps conditions, and a reason, which ends it. Between id and left side may stand the class of
// floating-point results that it changes, in brackets: [zero-sign], [rounding], [overflow], [nan] or [fast]. Without one the rule must keep
// every bit.
//
//	on the left                 matches
//	x                           anything; the same name again, the same value
//	0, 2.5, -inf, true          a constant all of whose elements are that number, or a broadcast of one; 0 is not -0
//	c:const                     any such constant
//	(add x y)                   an op with operands, in either order if it commutes
//	(add! x y)                  an op with operands in this order
//	s:(add x y)                 the same, and names it
//	(f:maximum|minimum x y)     one of several ops, named f; (f x y) is the same op again
//	(compare[LT|LE] x y)        an op whose attribute is as stated: directions, a list of axes such as [0,1], or [-] for no axes
//	(transpose[p] x)            the same with the attribute named
//
//	on the right                makes
//	x                           what x matched
//	0, true                     a constant of the shape and type that its place asks for
//	(add x y)                   an op; its shape follows from its operands, that of the outermost is the replaced one's
//	(fold add c1 c2)            an op on the scalars that c1 and c2 repeat, repeated in turn
//	(eval divide 1 c)           the same, computed at once
//	(transpose[compose(p,q)] x) an op with a computed attribute
//	(convert[type(x)] y)        a conversion to the type of x
//
// Conditions are separated by commas and may be negated with "not". [Conditions] lists what there is; what computes lists of axes is in axes.go. Lines that begin with //
// are comments.
//
//	file          what it does
//	grammar.go    text to trees
//	read.go       the same by hand, for rules without mistakes; late.go when they are needed
//	check.go      names and ops of the trees, and where a mistake is
//	match.go      left sides to matchers
//	make.go       right sides to expressions
//	condition.go  what conditions ask
//	axes.go       lists of axes, and what computes them
//	instance*.go  rules to modules, on which both sides are tried
//	chooser.go    all sequences of choices, one after the other
//	evaluate.go   ops on literals; value.go what is known of values
//	infix.go      rules as formulas, for docs
//
// A rule says nothing of layouts, control dependencies, sharding, sizes that are known at run time only, or mixed precision: [pass.Rewriter]
// handles these for every rule.
package rules
