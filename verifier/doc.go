// Package verifier checks that a module keeps the rules of HLO.
//
//	findings := verifier.Verify(m, verifier.Config{})
//	if err := findings.Err(); err != nil { ... }       // an ErrorList, or nil
//
//	type        what it is
//	Config      the profile and the options
//	Error       one finding: rule, severity, place, message, hint
//	ErrorList   all findings, by place in the text
//	Rule        a row of the rule table: id, what must hold
//
// Verify finds everything at once: one fact gives one finding, and what a broken fact makes meaningless is not looked at. The phases:
//
//	structure    cycles, recursion                          structure.go
//	pairs        start and done, send and recv, channels    pair.go, channel.go
//	chains       asynchronous values traced to their start  trace.go, chain.go
//	ops          for each instruction its shape rule (package hlo), the comparison with the stated shape (compare.go), and what needs
//	             more than shapes: a function for each opcode, in the array of opcheck.go; what XLA leaves open in stricter.go
//	common       shardings, memory spaces, layouts          sharding.go, layout.go
//	buffers      single writers of b(T)                     buffer.go
//	module       entry layout, aliases, donors, schedules   entry.go, alias.go, schedule.go
//	deadlocks    between sends, recvs and collectives       deadlock.go, transfers.go
//
// Rules have stable ids (ASYNC-25, SHP-04), which tests and users search for; [Explain] documents each with a module that breaks it and
// one that does not, from examples.txt. A rule's shape half lives with the op in package hlo: the shape rule is the op check, and its
// errors carry the ids. [Rule.Kind] marks the rules that other packages enforce: the readers of text and of serialized modules, or the IR, which
// cannot say what breaks them. Ids that begin with HALO are halo's own.
//
// A finding about an asynchronous value shows the whole chain, start to done (chaintext.go). [Config.Levels] selects groups of rules.
//
// The default profile, [Doc], keeps the promises of XLA's document on async ops; [XLA] is what XLA of August 2026 accepts. Verify runs
// in time linear in the module. It reads the module only, and it may run on many modules at once.
package verifier
