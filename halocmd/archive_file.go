package halocmd

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// An archive holds the versions that a module went through in one file. Texts are cut between computations, and each piece is stored once, under its
// hash, however many versions have it: an archive of a whole pipeline is little larger than the module and what the passes changed.
// It is a zip file, so that other tools can read it: index.json lists the versions, blocks/HASH is a piece of text.

const (
	archiveExtension = ".halo.zip"
	archiveIndexName = "index.json"
)

// archiveIndex is index.json.
type archiveIndex struct {
	Module   string           `json:"module"`
	Versions []archiveVersion `json:"versions"`
}

// archiveVersion is a version of the module: the text is its blocks with an empty line between them.
type archiveVersion struct {
	Path         string   `json:"path,omitempty"` // of the pass that made it
	Name         string   `json:"name"`           // of the pass, or before_optimizations, after_optimizations
	Instructions int      `json:"instructions"`
	Computations int      `json:"computations"`
	Blocks       []string `json:"blocks"`
}

type archiveWriter struct {
	index archiveIndex
	file  bytes.Buffer
	zip   *zip.Writer
	have  map[string]bool
	err   error
}

func newArchive(module string) *archiveWriter {
	a := &archiveWriter{index: archiveIndex{Module: module}, have: map[string]bool{}}
	a.zip = zip.NewWriter(&a.file)
	return a
}

const blockEnd = "\n\n"

func (a *archiveWriter) add(path, name string, m hlo.Module, text []byte) {
	v := archiveVersion{Path: path, Name: name, Instructions: m.NumInstructions(), Computations: m.NumComputations()}
	for block := range bytes.SplitSeq(text, []byte(blockEnd)) {
		sum := sha256.Sum256(block)
		hash := hex.EncodeToString(sum[:12])
		v.Blocks = append(v.Blocks, hash)
		if !a.have[hash] {
			a.have[hash] = true
			a.entry("blocks/"+hash, block)
		}
	}
	a.index.Versions = append(a.index.Versions, v)
}

func (a *archiveWriter) entry(name string, data []byte) {
	w, err := a.zip.Create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	a.err = errors.Join(a.err, err)
}

func (a *archiveWriter) finish(w io.Writer) error {
	index, err := json.MarshalIndent(a.index, "", " ")
	a.err = errors.Join(a.err, err)
	a.entry(archiveIndexName, index)
	if err := errors.Join(a.err, a.zip.Close()); err != nil {
		return err
	}
	_, err = a.file.WriteTo(w)
	return err
}

// archiveReader reads an archive.
type archiveReader struct {
	archiveIndex
	zip *zip.Reader
}

func openArchive(data []byte) (*archiveReader, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, errors.New("not an archive that halo opt --dump-layout=archive has made")
	}
	a := &archiveReader{zip: z}
	index, err := a.entry(archiveIndexName)
	if err == nil {
		err = json.Unmarshal(index, &a.archiveIndex)
	}
	if err != nil {
		return nil, fmt.Errorf("the archive is damaged: index.json: %w", err)
	}
	return a, nil
}

// maxBlock bounds a piece of text that an archive unpacks to.
const maxBlock = 1 << 30

func (a *archiveReader) entry(name string) ([]byte, error) {
	f, err := a.zip.Open(name)
	if err != nil {
		return nil, unwrapPath(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBlock+1))
	if err == nil && len(data) > maxBlock {
		err = fmt.Errorf("unpacks to more than %d bytes", maxBlock)
	}
	return data, err
}

// text is a version as it was written.
func (a *archiveReader) text(v archiveVersion) (string, error) {
	blocks := make([]string, len(v.Blocks))
	for i, hash := range v.Blocks {
		block, err := a.entry("blocks/" + hash)
		if err != nil {
			return "", fmt.Errorf("the archive is damaged: block %s: %w", hash, err)
		}
		blocks[i] = string(block)
	}
	return strings.Join(blocks, blockEnd), nil
}
