package archtest

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// document is a parsed Markdown file.
type document struct {
	path  string
	prose map[int]string // lines without code, by line number from 1
	code  []codeLine     // code spans and lines of code blocks
}

type codeLine struct {
	line int
	text string
}

var codeSpan = regexp.MustCompile("`+[^`]+`+")

// documents returns the Markdown files, ordered by path.
func (m *module) documents() (list []document) {
	for _, name := range slices.Sorted(maps.Keys(m.texts)) {
		if path.Ext(name) == ".md" {
			list = append(list, readDocument(name, m.texts[name]))
		}
	}
	return list
}

func readDocument(name, text string) document {
	d := document{path: name, prose: make(map[int]string)}
	block, joined := false, false
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			block, joined = !block, false
		case block:
			more := strings.HasSuffix(trimmed, `\`)
			trimmed = strings.TrimSuffix(trimmed, `\`)
			if joined {
				d.code[len(d.code)-1].text += " " + trimmed
			} else {
				d.code = append(d.code, codeLine{i + 1, trimmed})
			}
			joined = more
		default:
			for _, span := range codeSpan.FindAllString(line, -1) {
				d.code = append(d.code, codeLine{i + 1, strings.TrimSpace(strings.Trim(span, "`"))})
			}
			d.prose[i+1] = codeSpan.ReplaceAllString(line, "code")
		}
	}
	return d
}

var (
	link    = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|^\s*\[[^\]]+\]:\s+(\S+)|(?:src|href)="([^"]+)"`)
	scheme  = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	heading = regexp.MustCompile(`^#+\s+(.*?)\s*#*$`)
	punct   = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// anchors returns the anchors of a document's headings in GitHub's form.
func anchors(text string) map[string]bool {
	seen := make(map[string]int)
	names := make(map[string]bool)
	for line := range strings.SplitSeq(text, "\n") {
		match := heading.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		name := strings.ReplaceAll(punct.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")
		if n := seen[name]; n > 0 {
			names[fmt.Sprintf("%s-%d", name, n)] = true
		}
		seen[name]++
		names[name] = true
	}
	return names
}

// linksLead checks that the targets of links within the repository exist.
func linksLead(m *module) (found []string) {
	for _, d := range m.documents() {
		for _, n := range slices.Sorted(maps.Keys(d.prose)) {
			for _, match := range link.FindAllStringSubmatch(d.prose[n], -1) {
				target := match[1] + match[2] + match[3]
				if scheme.MatchString(target) || strings.HasPrefix(target, "//") {
					continue
				}
				if why := m.follow(d.path, target); why != "" {
					found = append(found, fmt.Sprintf("%s:%d: link to %s: %s", d.path, n, target, why))
				}
			}
		}
	}
	return found
}

// follow returns why a link is broken, or an empty string.
func (m *module) follow(from, target string) string {
	name, anchor, _ := strings.Cut(target, "#")
	file := from
	if name != "" {
		file = path.Join(path.Dir(from), name)
		if strings.HasPrefix(name, "/") || strings.HasPrefix(file, "../") || file == ".." {
			return "it leaves the repository"
		}
		if _, err := fs.Stat(m.fs, file); err != nil {
			return "there is no such file"
		}
	}
	if anchor != "" && path.Ext(file) == ".md" && !anchors(m.texts[file])[anchor] {
		return "there is no such heading"
	}
	return ""
}

func TestLinks(t *testing.T) {
	examples(t, linksLead, []example{
		{"all there", map[string]string{
			"README.md":    "# Top\n[a](docs/a.md) [b](docs/a.md#two-words) [c](#top) [d](docs) [e](https://example.com/x) ![p](docs/p.svg \"A picture\")\n<img src=\"docs/p.svg\"> `[no](link)`\n```\n[no](link)\n```\n[ref]: docs/a.md\n",
			"docs/a.md":    "## Two `words`!\n[up](../README.md)",
			"docs/p.svg":   "",
			"docs/x/y.txt": "",
		}, nil},
		{"nothing there", map[string]string{
			"README.md": "# Top\n[a](docs/b.md)\n[b](#bottom)\n[c](docs/a.md#three)\n[d](../shared/x.md)\n[e](/etc/x)\n<img src=\"p.svg\">\n[ref]: q.md",
			"docs/a.md": "## Two",
		}, []string{
			"README.md:2: link to docs/b.md: there is no such file", "README.md:3: link to #bottom: there is no such heading",
			"README.md:4: link to docs/a.md#three: there is no such heading", "README.md:5: link to ../shared/x.md: it leaves",
			"README.md:6: link to /etc/x: it leaves", "README.md:7: link to p.svg", "README.md:8: link to q.md",
		}},
	})
}
