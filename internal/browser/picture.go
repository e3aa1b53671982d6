package browser

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"slices"
)

// Picture writes what is seen as a small PNG file, for documents: of 256 colours.
func (p *Page) Picture(path string) error {
	data, err := p.shot()
	if err != nil {
		return err
	}
	whole, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, paletted(whole)); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

// paletted gives every pixel the nearest of 256 colours. Pages have few colours, and shades between them at the edges of letters.
func paletted(whole image.Image) *image.Paletted {
	times := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(whole.At(x, y)).(color.RGBA) }
	bounds := whole.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			times[at(x, y)]++
		}
	}
	order := slices.SortedFunc(maps.Keys(times), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	// The most frequent of each sixteenth of the three axes comes first: a colour that only a key of a legend has would else be lost to shades of grey.
	var first, more []color.RGBA
	cells := map[color.RGBA]bool{}
	for _, c := range order {
		if cell := (color.RGBA{c.R >> 4, c.G >> 4, c.B >> 4, 0}); cells[cell] {
			more = append(more, c)
		} else {
			cells[cell] = true
			first = append(first, c)
		}
	}
	var palette color.Palette
	for _, c := range append(first, more...)[:min(len(order), 256)] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	small := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(x, y)
			k, ok := nearest[c]
			if !ok {
				k = uint8(palette.Index(c))
				nearest[c] = k
			}
			small.SetColorIndex(x, y, k)
		}
	}
	return small
}

// shot is what is seen, as PNG.
func (p *Page) shot() ([]byte, error) {
	var shot struct{ Data string }
	if err := p.b.into(&shot, p.session, "Page.captureScreenshot", map[string]any{"format": "png"}); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(shot.Data)
}
