package yamlfile

import "strings"

// syntax converts an error message of the parser, which refers to its grammar, to plain
// words. It replaces messages that begin or end as in the table.
func syntax(parser string) string {
	for _, w := range words {
		if strings.HasPrefix(parser, w.begin) && strings.HasSuffix(parser, w.end) {
			if _, value, ok := strings.Cut(parser, "'"); ok && strings.Contains(w.text, "%") {
				value, _, _ = strings.Cut(value, "'")
				return strings.ReplaceAll(w.text, "%", value)
			}
			return strings.ReplaceAll(w.text, "%", "it")
		}
	}
	return `expected "key: value", a list or a text here`
}

// words are the parser's messages and their replacements. % stands for the text in
// single quotes.
var words = []struct{ begin, end, text string }{
	{"mapping value is not allowed", "", `a second "key: value" on this line, or a wrong indentation: a text with a colon must be in quotes, and keys of one group must begin in the same column`},
	{"value is not allowed in this context. map", "", "text behind the end of the value: a text with quotes in it must be in quotes as a whole, and lines of one text must be indented alike"},
	{"value is not allowed in this context", "", "wrong indentation: keys and entries of one group must begin in the same column"},
	{"unexpected key name", "", `a key must stand on one line, with ": " behind it`},
	{"map key definition includes", "", `a key must stand on one line, with ": " behind it`},
	{"non-map value", "", `expected "key: value" as in the lines above`},
	{"expected map key-value delimiter", "", `a key must have ": " behind it`},
	{"could not find flow mapping end", "", "the brace { is not closed by a }"},
	{"sequence end token", "", "the bracket [ is not closed by a ]"},
	{"',' or ']'", "", "a comma or a ] must follow the entry before"},
	{"',' or '}'", "", "a comma or a } must follow the value before"},
	{"could not find flow map content", "", `expected "key: value" between the commas`},
	{"expected sequence element", "", "expected an entry between the commas"},
	{"could not find '['", "", "this ] has no [ before it"},
	{"could not find '{'", "", "this } has no { before it"},
	{"could not find end character of double", "", `the text in quotes does not end: a " is missing`},
	{"could not find end character of single", "", "the text in quotes does not end: a ' is missing (in single quotes, two of them are an apostrophe)"},
	{"", "is a reserved character", "a text that begins with % must be in quotes"},
	{"unexpected directive value", "", "a text that begins with a percent sign must be in quotes"},
	{"found unknown escape", "", `\% means nothing in double quotes: write \\ for a backslash, or take single quotes`},
	{"not enough length for escaped", "", `an escape in double quotes is too short: expected \u and 4 digits, or \U and 8`},
	{"found unexpected", "surrogate pair", `the escapes of a character in double quotes must be \u and 4 digits twice`},
	{"found unexpected low surrogate", "", `the escapes of a character in double quotes must be \u and 4 digits twice`},
	{"tab character", "", "a tab: indent with spaces"},
	{"found a tab character", "", "a tab: indent with spaces"},
	{"found character '\t'", "", "a tab: indent with spaces"},
	{"invalid header option", "", "expected the end of the line behind | or >"},
	{"could not find multi-line content", "", "expected an indented text below | or >"},
	{"undefined anchor", "", "an anchor must have a name and a value: &name value"},
	{"could not find anchor", "", "an anchor must have a name and a value: &name value"},
	{"undefined alias", "", "an alias must have a name: *name"},
	{"could not find alias", "", "an alias must have a name: *name"},
	{"unknown YAML version", "", "the YAML version must be 1.1 or 1.2"},
	{"block sequence entries are not allowed", "", `a list must begin on the line below its key, with "- " before each entry`},
	{"value cannot be placed after document", "", "nothing may stand behind --- or ... on the line"},
	{"found unexpected document separator", "", "--- must not stand within a text in quotes"},
}
