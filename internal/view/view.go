// Package view shows programs in a browser: a page that lays programs out on demand, searches them and colours them by what is known of them.
//
//	p := view.New("step.hlo", m, rates)          what the page knows of a program
//	p.Overlays = append(p.Overlays, …)           what is known besides: a profile, a difference, where values are NaN
//	view.WritePage(w, view.Page{Programs: …})    one file that needs nothing else
//	view.Serve(ctx, listener, site)              the same page from this process
//
//	file            what it does
//	program.go      a module as the columns that the page reads
//	figures.go      what the cost model says of each instruction
//	overlay.go      numbers and classes of instructions that the program itself says, and differences from another
//	figure_file.go  overlays from files: profiles, and figures of any kind
//	memory_file.go  those of memory
//	page.go         the page: HTML, styles and scripts of the folder page as one text
//	serve.go        the page and its programs over HTTP, for this machine alone
//	page/           the page itself: plain JavaScript without a build step; page/README.md is its map
//
// All computing that depends on what somebody looks at, such as folding, layout and search, is the page's own.
package view
