// Package filecheck compares a program's output with expectations written as comments,
// in the language of LLVM's FileCheck, so that HLO tests from elsewhere run unchanged:
//
//	// CHECK-LABEL: ENTRY %main
//	// CHECK:       %[[ADD:[^ ]+]] = f32[] add
//	// CHECK-NEXT:  ROOT {{.*}} tuple(%[[ADD]])
//	// CHECK-NOT:   multiply
//
//	err := filecheck.Check(checks, output, filecheck.Options{CheckName: "add.hlo"})
//
// The checks are the whole file that holds them; text around directives is ignored. The error,
// if any, is an [Errors]: one [Error] for each block between labels that does not match, with
// the place of the directive, where the search began and the values of the variables involved.
//
//	directive          matches
//	CHECK:             anywhere after the previous match
//	CHECK-NEXT:        the same, and must land on the line after it
//	CHECK-SAME:        the same, and must land on the same line
//	CHECK-EMPTY:       the line after it, which must be empty
//	CHECK-COUNT-n:     n times in a row
//	CHECK-DAG:         with its neighbours of the kind, in any order, not overlapping
//	CHECK-NOT:         must not be found between the matches around it
//	CHECK-LABEL:       found first; cuts the output into blocks that are checked apart
//
// A pattern is plain text with {{regular expressions}}, [[NAME:regex]] and [[NAME]] for text
// variables, [[#NAME:]], [[#NAME+1]] and the like for numbers, [[#@LINE-1]] for the line of the
// directive. {LITERAL} before the colon takes the pattern as it is. Runs of blanks count as one,
// on both sides, unless Options.StrictWhitespace is set.
//
//	file           what
//	filecheck.go   Options, Parse, Check
//	directive.go   finding directives in a file; their grammar
//	pattern.go     the grammar of patterns and its checks
//	number.go      number formats and expressions
//	ere.go         POSIX extended regular expressions in terms of Go's
//	match.go       one pattern against a text; variables
//	backtrack.go   patterns that use a variable they define themselves
//	scan.go        all directives against an output: labels, order, negatives
//	errors.go      Error, Errors
//
// # Regular expressions
//
// They are POSIX extended ones, as in LLVM: leftmost, then longest; "." and negated classes do not
// match a line feed; "^" and "$" match at lines, and "^" also where a search begins. They run on
// Go's regexp, which leaves these differences: where several longest matches divide their groups
// differently, Go prefers the first alternative and POSIX the longest first group; text is UTF-8,
// not bytes. A backslash before a letter or digit is an error here (in LLVM \d is the letter
// d, and \1 a group counted over the whole pattern); so are equivalence classes such as [[=a=]]
// and repetitions above 1000. A pattern that uses a text variable it defines is matched by
// backtracking in greedy order, which may find a shorter match than POSIX where alternatives
// overlap, and gives up with an error after a million steps.
//
// # What is missing
//
// CHECK-NOT given as an option (implicit-check-not), dumps of the annotated input, and overlapping
// CHECK-DAG.
//
// Parsed [Checks] are immutable and safe for concurrent use.
package filecheck
