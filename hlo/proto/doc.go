// Package proto reads and writes modules in XLA's binary form: HloModuleProto, inside an HloProto or an HloSnapshot or alone, plain
// or compressed with gzip.
//
//	m, err := proto.Decode(data)           // any of these forms
//	data, err := proto.Encode(m)           // an HloModuleProto
//	snap, err := proto.DecodeSnapshot(data) // module, arguments, result
//
//	file          what
//	schema.go     the messages of modules, as structs whose tags are the field numbers; schema_data.go those of their parts
//	plan.go       structs from and to protobuf's wire format, by tables made of the tags
//	codec*.go     what stands in a field, for each type of field; codec_list.go of repeated ones
//	open.go       which of the forms some bytes are
//	decode*.go    messages → hlo
//	memo.go       what bytes meant that have been read before
//	ids.go        instructions by their ids in messages
//	program.go    modules whose instructions others name by these ids
//	encode*.go    hlo → messages
//	text.go       messages as text (pbtxt), with the names of fields in schema.txt
//	elided.go     data for constants that were left out
//	literal.go    LiteralProto, both ways
//	shape.go      shapes, each read once
//	enum.go       enumerations
//	instruction_attrs.go what any instruction may have
//	snapshot.go unoptimized.go modules with arguments and results
//	foreign.go    messages that hold no module
//	sharding*.go  OpSharding and meshes, both ways
//	groups.go     replica groups, both ways
//
// A program of a hundred thousand instructions says few different things, so nothing is read or written twice that can be looked up: shapes,
// metadata and the attributes of instructions are known by their bytes on the way in, and by their pointers on the way out. What remains of
// an instruction are its name, its id and those of its operands.
//
// XLA's messages do not carry all that text does: counts of replicas and partitions, permissions to propagate shardings, constants
// that were left out, attributes kept by the lenient reader. [Encode] puts these into fields with numbers from 20000 up, which XLA skips
// and [Decode] reads, so text → proto → text loses nothing. What XLA's modules have and HLO text has not (device assignments, profiles) is
// kept with the module and written again. Buffer assignments beside a module are skipped, and so are fields of releases to come, as protobuf
// does; fields of the wrong type, which protobuf skips as well, are errors, since something was meant by them.
//
// Decode is meant for untrusted bytes: it checks everything it relies on and returns a [FormatError] that names the field. Memory is a small
// multiple of the bytes for programs, and at most some hundred times as much for bytes that are made for it.
package proto
