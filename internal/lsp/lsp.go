// Package lsp is a server of the Language Server Protocol for HLO, StableHLO and files of rewrite rules: what an editor asks while somebody reads
// and writes them.
//
//	err := lsp.Serve(ctx, stdin, stdout, lsp.Config{})
//
//	file           what it does
//	server.go      messages to methods
//	codec.go       messages to and from bytes
//	protocol.go    the protocol's types, as far as they are used
//	document.go    a text, its edits, and positions in it
//	language.go    the three languages: how to check, index and format each
//	check.go       faults and findings as diagnostics; quick fixes from their advice
//	index*.go      names: where each is defined and used
//	lex.go         words of a text, without knowing what they mean
//	hover.go       what stands behind a name
//	semantic.go    colours
//	format.go      formatting
//
// A text is read and verified after every change, in the background, always the newest version. HLO is read by a session of the parser: the
// instructions that a change has not touched are neither read nor verified again, though the module is made anew, so that the diagnostics are
// those of the whole text; of four megabytes this takes some hundredths of a second. Names are found by their places in the text, so that definitions, references and renaming work while it has faults.
package lsp
