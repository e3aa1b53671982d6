package filecheck

// Options says how to read checks and output. The zero value is FileCheck's default.
type Options struct {
	// Prefixes begin directives; CHECK when empty. Each must occur in the checks.
	Prefixes []string
	// CommentPrefixes begin comments, in which directives do not count; COM and RUN when nil.
	CommentPrefixes []string

	// CheckName and OutputName are the file names that errors use; "checks" and "output" when empty.
	CheckName, OutputName string

	StrictWhitespace    bool // runs of blanks are not the same as one
	MatchFullLines      bool // a pattern covers its line but for blanks at the ends
	IgnoreCase          bool
	AllowEmpty          bool // an empty output is not an error of its own
	AllowUnusedPrefixes bool // some of several Prefixes may not occur
	// VarScope forgets at each label the variables whose names do not begin with a dollar sign.
	VarScope bool

	// Define sets text variables before the first directive.
	Define map[string]string
}

// Checks are the directives of one file, ready to be matched with any number of outputs.
type Checks struct {
	options    Options
	source     []string // lines of the file, for errors
	directives []*directive
}

// Check matches output with the directives in checks. The error is an Errors, with one entry for each
// mistake in the directives, or else for each block of output that differs.
func Check(checks, output []byte, options Options) error {
	c, err := Parse(checks, options)
	if err != nil {
		return err
	}
	return c.Match(output)
}

// Parse reads the directives of a file. The error is an Errors.
func Parse(checks []byte, options Options) (*Checks, error) {
	if len(options.Prefixes) == 0 {
		options.Prefixes = []string{"CHECK"}
	}
	if options.CommentPrefixes == nil {
		options.CommentPrefixes = []string{"COM", "RUN"}
	}
	if options.CheckName == "" {
		options.CheckName = "checks"
	}
	if options.OutputName == "" {
		options.OutputName = "output"
	}
	return parse(string(checks), options)
}
