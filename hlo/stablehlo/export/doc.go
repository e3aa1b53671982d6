// Package export reads files of jax.export: `exported.serialize()`.
//
//	f, err := export.Open("model.jax_export", data)
//	f.Module        // the program, a portable artifact
//	f.Arguments     // the leaves of the inputs: name, type, shape, whether the program uses it
//
// The container is a FlatBuffer (package flatbuf), and the files may be anybody's.
package export
