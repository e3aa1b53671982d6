// Package proto reads and writes modules in XLA's binary form: HloModuleProto, inside an HloProto or an HloSnapshot or alone, plain
// or compressed with gzip.
//
//	m, err := proto.Decode(data)           // any of these forms
//	data, err := proto.Encode(m)           // an HloModuleProto
//	snap, err := proto.DecodeSnapshot(data) // module, arguments, result
//
//	file          what
//	schema.go     the messages, as structs whose tags are the field numbers
//	wire.go       structs from and to protobuf's wire format
//	open.go       which of the forms some bytes are
//	decode*.go    messages → hlo
//	encode*.go    hlo → messages
//	literal.go    LiteralProto, both ways
//	sharding.go   OpSharding, meshes and replica groups, both ways
//
// XLA's messages do not carry all that text does: counts of replicas and partitions, permissions to propagate shardings, constants
// that were left out, attributes kept by the lenient reader. [Encode] puts these into fields with numbers from 20000 up, which XLA skips
// and [Decode] reads, so text → proto → text loses nothing. What XLA has and HLO text has not (buffer assignments, profiles, device
// assignments) is skipped.
//
// Decode is meant for untrusted bytes: it checks everything it relies on and returns a [FormatError] that names the field.
package proto
