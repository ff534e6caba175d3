package messages

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed words/*.json
var files embed.FS

// Catalog is the words of one language. It never changes, so that it is safe for
// concurrent use.
type Catalog struct {
	language string
	texts    map[string]string
}

// Languages are the tags that have words, in alphabetical order.
func Languages() []string {
	entries, err := files.ReadDir("words")
	if err != nil {
		panic(fmt.Sprintf("catalog: the embedded words are gone: %v", err))
	}
	var tags []string
	for _, e := range entries {
		tags = append(tags, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(tags)
	return tags
}

// Lookup returns the words of a language. A regional tag ("de-AT") takes the
// language's own ("de").
func Lookup(language string) (*Catalog, error) {
	tag, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(language, "_", "-")), "-")
	c, ok := catalogs[tag]
	if !ok {
		return nil, fmt.Errorf("no words for language %q: expected one of %v", language, Languages())
	}
	return c, nil
}

// catalogs are the words of each language, read once: all conversations share them.
var catalogs = read()

func read() map[string]*Catalog {
	all := make(map[string]*Catalog)
	for _, tag := range Languages() {
		b, err := files.ReadFile("words/" + tag + ".json")
		if err != nil {
			panic(fmt.Sprintf("catalog: the embedded words are gone: %v", err))
		}
		c := &Catalog{language: tag}
		if err := json.Unmarshal(b, &c.texts); err != nil {
			panic(fmt.Sprintf("catalog: the embedded words of %s: %v", tag, err))
		}
		all[tag] = c
	}
	return all
}

// Language is the tag of the words.
func (c *Catalog) Language() string { return c.language }

// Text is the words for a code; the code itself where there are none, which the
// tests exclude.
func (c *Catalog) Text(code string) string {
	if text, ok := c.texts[code]; ok {
		return text
	}
	return code
}

// Has reports whether there are words for a code.
func (c *Catalog) Has(code string) bool {
	_, ok := c.texts[code]
	return ok
}

// Codes are all codes, in alphabetical order.
func (c *Catalog) Codes() []string {
	codes := make([]string, 0, len(c.texts))
	for code := range c.texts {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}
