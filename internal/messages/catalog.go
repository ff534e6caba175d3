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

// Catalog contains the messages of one language. It is immutable and safe for
// concurrent use.
type Catalog struct {
	language string
	texts    map[string]string
}

// Languages returns the language tags that have messages, in alphabetical order.
func Languages() []string {
	entries, err := files.ReadDir("words")
	if err != nil {
		panic(fmt.Sprintf("messages: read embedded messages: %v", err))
	}
	var tags []string
	for _, e := range entries {
		tags = append(tags, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(tags)
	return tags
}

// Lookup returns the messages of a language. A regional tag ("de-AT") selects the
// base language ("de").
func Lookup(language string) (*Catalog, error) {
	tag, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(language, "_", "-")), "-")
	c, ok := catalogs[tag]
	if !ok {
		return nil, fmt.Errorf("unsupported language %q: expected one of %v", language, Languages())
	}
	return c, nil
}

// catalogs contains the messages of each language. They are read once and shared by
// all conversations.
var catalogs = read()

func read() map[string]*Catalog {
	all := make(map[string]*Catalog)
	for _, tag := range Languages() {
		b, err := files.ReadFile("words/" + tag + ".json")
		if err != nil {
			panic(fmt.Sprintf("messages: read embedded messages: %v", err))
		}
		c := &Catalog{language: tag}
		if err := json.Unmarshal(b, &c.texts); err != nil {
			panic(fmt.Sprintf("messages: language %s: %v", tag, err))
		}
		all[tag] = c
	}
	return all
}

// Language returns the language tag.
func (c *Catalog) Language() string { return c.language }

// Text returns the message for a code. It returns the code if there is none, which
// tests rule out.
func (c *Catalog) Text(code string) string {
	if text, ok := c.texts[code]; ok {
		return text
	}
	return code
}

// Has reports whether there is a message for a code.
func (c *Catalog) Has(code string) bool {
	_, ok := c.texts[code]
	return ok
}

// Codes returns all codes in alphabetical order.
func (c *Catalog) Codes() []string {
	codes := make([]string, 0, len(c.texts))
	for code := range c.texts {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}
