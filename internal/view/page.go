package view

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"strings"
)

//go:embed page/*.js page/*.css page/*.html page/vendor
var files embed.FS

// scripts are those of the page, each after what it uses.
var scripts = []string{
	"vendor/dagre.min.js", "text.js", "program.js", "folds.js", "layout.js", "colours.js", "paint.js", "panel.js", "lists.js", "input.js", "app.js", "start.js",
}

func file(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// script is all scripts of the page as one text, for pages that show programs among other things.
func script() string {
	var b strings.Builder
	b.WriteString("/* dagre, a library for laying out graphs:\n\n" + file("vendor/dagre.LICENSE") + "*/\n")
	for _, name := range scripts {
		b.WriteString(file(name))
		b.WriteByte('\n')
	}
	return b.String()
}

// style is the style sheet of the page.
func style() string { return file("style.css") }

// WritePage writes the page as one file that needs nothing else. Without programs it asks its server for them.
func WritePage(w io.Writer, programs ...*Program) error {
	var inside strings.Builder
	for _, p := range programs {
		packed, err := pack(p)
		if err != nil {
			return err
		}
		inside.WriteString(`<script type="application/gzip" data-file="` + html.EscapeString(p.File) + `">`)
		inside.WriteString(base64.StdEncoding.EncodeToString(packed))
		inside.WriteString("</script>\n")
	}
	_, err := strings.NewReplacer(
		"{{styles}}", style(),
		"{{programs}}", inside.String(),
		"{{scripts}}", "<script>"+strings.ReplaceAll(script(), "</script", `<\/script`)+"</script>",
	).WriteString(w, file("page.html"))
	return err
}

// pack is a program as compressed JSON.
func pack(p *Program) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(z).Encode(p); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
