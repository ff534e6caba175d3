package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strings"

	"github.com/hocketvoice/hocket/dialog"
)

// request makes the HTTP request of an action.
func (t *Tool) request(ctx context.Context, a *dialog.Action, id string, inputs map[string]any) (*http.Request, error) {
	h := a.HTTP
	upward := false
	target, err := t.fill(h.URL, inputs, func(value string) string {
		upward = upward || value == "." || value == ".."
		return url.PathEscape(value)
	})
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if upward { // no escape keeps these from leading to another resource
		return nil, fmt.Errorf("url: a value is . or .., expected the name of something")
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("url: expected http://HOST/PATH or https://HOST/PATH after the values of %s are filled in", h.URL)
	}
	if len(h.Query) > 0 {
		q := u.Query()
		for _, name := range sorted(h.Query) {
			v, err := t.fill(h.Query[name], inputs, nil)
			if err != nil {
				return nil, fmt.Errorf("query %s: %w", name, err)
			}
			q.Set(name, v)
		}
		u.RawQuery = q.Encode()
	}
	body, err := t.body(h, inputs)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, h.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("url: not one that can be asked")
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Idempotency-Key", id)
	for _, name := range sorted(h.Headers) {
		v, err := t.fill(h.Headers[name], inputs, nil)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		if strings.ContainsAny(v, "\r\n\x00") {
			return nil, fmt.Errorf("header %s: a value with a line break", name)
		}
		req.Header.Set(name, v)
	}
	return req, nil
}

// body is the JSON to send: what the file says with its values filled in, or the
// inputs. A GET has none.
func (t *Tool) body(h *dialog.HTTPCall, inputs map[string]any) ([]byte, error) {
	if h.Body == nil {
		if h.Method == http.MethodGet || h.Method == http.MethodHead {
			return nil, nil
		}
		return json.Marshal(inputs)
	}
	v, err := t.fillValue(h.Body, inputs)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	return json.Marshal(v)
}

// fillValue fills in the texts of a JSON value. A text that is one slot and
// nothing else becomes the slot's value, with its type.
func (t *Tool) fillValue(v any, inputs map[string]any) (any, error) {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "{"); ok && strings.HasSuffix(name, "}") && !strings.ContainsAny(name[:len(name)-1], "{}$") {
			value, there := inputs[name[:len(name)-1]]
			if !there {
				return nil, nil // an optional one that was not given
			}
			return value, nil
		}
		return t.fill(v, inputs, nil)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = t.fillValue(v[i], inputs); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			var err error
			if out[name], err = t.fillValue(item, inputs); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return out, nil
	default:
		return v, nil
	}
}

// fill replaces {slot} by the input and ${NAME} by the environment's variable.
// What users say is escaped, what the environment says is not.
func (t *Tool) fill(text string, inputs map[string]any, escape func(string) string) (string, error) {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			return "", fmt.Errorf("%q has no closing brace", text[i:])
		}
		name := text[i+1 : i+end]
		if i > 0 && text[i-1] == '$' {
			v, ok := t.o.Getenv(name)
			if !ok {
				return "", fmt.Errorf("the environment has no %s", name)
			}
			b.WriteString(text[:i-1])
			b.WriteString(v)
		} else {
			b.WriteString(text[:i])
			v := ""
			if value, ok := inputs[name]; ok && value != nil {
				v = fmt.Sprint(value)
			}
			if escape != nil {
				v = escape(v)
			}
			b.WriteString(v)
		}
		text = text[i+end+1:]
	}
}

// checkEnvironment fails early where a variable is not set.
func (t *Tool) checkEnvironment(a *dialog.Action) error {
	texts := []string{a.HTTP.URL}
	for _, m := range []map[string]string{a.HTTP.Headers, a.HTTP.Query} {
		for _, name := range sorted(m) {
			texts = append(texts, m[name])
		}
	}
	for _, text := range texts {
		if _, err := t.fill(text, nil, nil); err != nil {
			return err
		}
	}
	_, err := t.fillValue(a.HTTP.Body, nil)
	return err
}

func sorted(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
