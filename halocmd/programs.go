package halocmd

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/hlo/source"
)

// extensions of the files that are taken from a directory. Files with other names are taken if they begin as a program does.
var extensions = []string{".hlo", ".pb", ".hlo.gz", ".pb.gz", ".hlo.zst", ".pb.zst", ".mlir", ".mlirbc", ".jax_export", ".bef"}

// sure are the extensions of files that are programs or damaged; XLA and JAX write other things as .pb.
var sure = []string{".hlo", ".hlo.pb", ".mlirbc", ".jax_export", ".bef"}

// programs lists the programs below a directory, sorted by path, and says how many other files there are.
func (e *env) programs(dir string) ([]place, error) {
	if saved, err := savedPrograms(dir); len(saved) > 0 || err != nil {
		return saved, err
	}
	var files []place
	var others []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if isProgram(path) {
			files = append(files, place{name: path, rel: rel})
		} else {
			others = append(others, rel)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", dir, err)
	}
	if len(files) == 0 && slices.Contains(others, savedModel) {
		return nil, fmt.Errorf("%s: error: no programs in this directory: it is a SavedModel, and %s has a graph of TensorFlow, not HLO; halo fmt %[2]s says how to get that",
			dir, filepath.Join(dir, savedModel))
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: error: no programs in this directory: looked for %s, and files that begin as a program does",
			dir, strings.Join(extensions, ", "))
	}
	e.noteSkipped(dir, others)
	return files, nil
}

// savedModel is the file of a SavedModel of TensorFlow that has its graph.
const savedModel = "saved_model.pb"

// noteSkipped says which files of a directory or archive hold no program.
func (e *env) noteSkipped(name string, others []string) {
	if len(others) > 0 {
		fmt.Fprintf(e.stderr, "%s: note: skipped %s without a program: %s\n", name, count(len(others), "file", "files"), abridged(others))
	}
}

// abridged lists a few names.
func abridged(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// headBytes are enough to recognise what begins as a program does.
const headBytes = 16 << 10

// isProgram reports whether a file of a directory holds a program, or programs.
func isProgram(path string) bool {
	if hasExtension(path, sure) {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return hasExtension(path, extensions) // reading it reports the error
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	switch kind, _ := source.Recognise(head); kind {
	case source.HLOProto, source.Zip: // what they hold does not show at the beginning
		data, err := readFile(path, inputLimit())
		return err != nil || holdsProgram(path, data)
	case source.Gzip, source.Zstd:
		if unpacked := headOf(head, kind); source.Detect(path, unpacked) != source.HLOProto {
			return holdsProgram(path, unpacked)
		}
		data, err := readFile(path, inputLimit())
		if err == nil {
			data, err = source.Unpack(data, inputLimit())
		}
		return err != nil || holdsProgram(path, data)
	}
	return holdsProgram(path, head)
}

func hasExtension(path string, extensions []string) bool {
	path = source.CutPacked(path)
	return slices.ContainsFunc(extensions, func(x string) bool { return strings.HasSuffix(path, x) })
}

// holdsProgram reports whether the content of a file among others is a program. XLA dumps modules, and much else, as .txt and as .pb. Texts
// of MLIR that are not read are programs, too: their error names the dialect. They are not in a dump of XLA, which writes what it makes of each
// kernel, too.
func holdsProgram(name string, data []byte) bool {
	if hasExtension(name, sure) {
		return true
	}
	kind, ok := source.Recognise(data)
	switch {
	case !ok:
		return false
	case kind == source.HLOProto:
		return proto.HasModule(data)
	case kind == source.Zip:
		found := false
		_ = source.Members(kind, data, inputLimit(), func(m source.Member) bool {
			found = holdsProgram(m.Name, m.Data)
			return !found && m.Name != archiveIndexName
		})
		return found
	case kind == source.HostProgram, kind == source.OtherMLIR:
		return hasExtension(name, extensions) && !isDumped(name)
	}
	return kind == source.HLOText || kind == source.StableHLOText || kind == source.MLIRBytecode || kind == source.BEF || kind == source.JAXExport ||
		kind == source.Tar
}

// headOf unpacks the beginning of a compressed file.
func headOf(head []byte, kind source.Kind) []byte {
	var r io.Reader
	if kind == source.Gzip {
		z, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return nil
		}
		r = z
	} else {
		z, err := zstd.NewReader(bytes.NewReader(head), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil
		}
		defer z.Close()
		r = z
	}
	out := make([]byte, headBytes)
	n, _ := io.ReadFull(r, out)
	return out[:n]
}
