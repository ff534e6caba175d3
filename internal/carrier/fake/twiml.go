package fake

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// verb is an element of TwiML.
type verb struct {
	Name  string
	Attrs map[string]string
	Text  string
	Verbs []verb
}

// parseTwiML parses an answer: the verbs of a Response.
func parseTwiML(body []byte) ([]verb, error) {
	d := xml.NewDecoder(strings.NewReader(string(body)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("no Response")
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local != "Response" {
			return nil, fmt.Errorf("the element %s: expected Response", start.Name.Local)
		}
		v, err := parseVerb(d, start)
		return v.Verbs, err
	}
}

// parseVerb parses an element up to its end.
func parseVerb(d *xml.Decoder, start xml.StartElement) (verb, error) {
	v := verb{Name: start.Name.Local, Attrs: make(map[string]string)}
	for _, a := range start.Attr {
		v.Attrs[a.Name.Local] = a.Value
	}
	for {
		token, err := d.Token()
		if err != nil {
			return v, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			one, err := parseVerb(d, token)
			if err != nil {
				return v, err
			}
			v.Verbs = append(v.Verbs, one)
		case xml.CharData:
			v.Text += string(token)
		case xml.EndElement:
			v.Text = strings.TrimSpace(v.Text)
			return v, nil
		}
	}
}
