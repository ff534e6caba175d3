package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// request makes the HTTP request of an action.
func (t *Tool) request(ctx context.Context, a *agent.Action, id string, inputs map[string]any) (*http.Request, error) {
	h := a.HTTP
	u, err := t.target(h.URL, inputs)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	// No escape keeps these from leading to another resource.
	if segments := strings.Split(u.EscapedPath(), "/"); slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return nil, errors.New("url: a part of the path is . or .., expected the name of something")
	}
	if len(h.Query) > 0 {
		q := u.Query()
		for _, name := range sorted(h.Query) {
			v, err := t.fill(h.Query[name], inputs, asIs)
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
		v, err := t.header(h.Headers[name], inputs)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		req.Header.Set(name, v)
	}
	return req, nil
}

// body is the JSON to send: what the file says with its values filled in, or the
// inputs. A GET has none.
func (t *Tool) body(h *agent.HTTPCall, inputs map[string]any) ([]byte, error) {
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
		if name, ok := only(v); ok {
			value, there := inputs[name]
			if !there {
				return nil, nil // an optional one that was not given
			}
			return value, nil
		}
		return t.fill(v, inputs, asIs)
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

// target is the URL of an action. A value is escaped for the part in which it
// stands: what a caller says never ends a segment of the path or a parameter, and
// never has a say in which server is asked.
func (t *Tool) target(text string, inputs map[string]any) (*url.URL, error) {
	target, err := t.fill(text, inputs, func(before, value string) (string, error) {
		switch {
		case strings.ContainsAny(before, "?#"):
			return url.QueryEscape(value), nil
		case agent.InAuthority(before):
			return "", errors.New("a value would name the server, expected one behind the host's /")
		default:
			return url.PathEscape(value), nil
		}
	})
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("expected http://HOST/PATH or https://HOST/PATH after the values of %s are filled in", text)
	}
	return u, nil
}

// header is a header's text. A value that is not all of it is escaped, so that it
// adds no parameter to those of the file.
func (t *Tool) header(text string, inputs map[string]any) (string, error) {
	escape := escapeHeader
	if name, ok := only(text); ok {
		text, escape = "{"+name+"}", asIs
	}
	v, err := t.fill(text, inputs, escape)
	if err == nil && strings.ContainsFunc(v, unicode.IsControl) {
		err = errors.New("the value has a control character")
	}
	return v, err
}

// escapeHeader percent-encodes what separates values in headers: spaces, quotes,
// commas, semicolons and their like, and all that is not ASCII.
func escapeHeader(_, value string) (string, error) {
	var b strings.Builder
	for _, c := range []byte(value) {
		if c > ' ' && c < 0x7f && !strings.ContainsRune("\"%&(),;<>?[\\]{}", rune(c)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String(), nil
}

// asIs is the escape of a place where any text may stand.
func asIs(_, value string) (string, error) { return value, nil }

// only is the slot of a text that is {slot} and nothing else.
func only(text string) (name string, ok bool) {
	text = strings.TrimSpace(text)
	name, ok = strings.CutPrefix(text, "{")
	if !ok || !strings.HasSuffix(name, "}") || strings.ContainsAny(name[:len(name)-1], "{}$") {
		return "", false
	}
	return name[:len(name)-1], true
}

// fill replaces {slot} by the input and ${NAME} by the environment's variable.
// What users say is escaped, for the place behind the text before it; what the
// environment says is not.
func (t *Tool) fill(text string, inputs map[string]any, escape func(before, value string) (string, error)) (string, error) {
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
			v, err := escape(b.String(), v)
			if err != nil {
				return "", fmt.Errorf("{%s}: %w", name, err)
			}
			b.WriteString(v)
		}
		text = text[i+end+1:]
	}
}

// checkEnvironment fails early where a variable is not set.
func (t *Tool) checkEnvironment(a *agent.Action) error {
	if _, err := t.target(a.HTTP.URL, nil); err != nil {
		return err
	}
	var texts []string
	for _, m := range []map[string]string{a.HTTP.Headers, a.HTTP.Query} {
		for _, name := range sorted(m) {
			texts = append(texts, m[name])
		}
	}
	for _, text := range texts {
		if _, err := t.fill(text, nil, asIs); err != nil {
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
