package openai

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	nan, cold := math.NaN(), -0.1
	good := Options{BaseURL: "http://localhost:11434/v1", Model: "m"}
	with := func(f func(*Options)) Options { o := good; f(&o); return o }
	for name, test := range map[string]struct {
		o    Options
		want string
	}{
		"Model must be set": {Options{}, "Model must be set"},
		"scheme":            {with(func(o *Options) { o.BaseURL = "ftp://x/v1" }), "must be an http or https URL"},
		"no host":           {with(func(o *Options) { o.BaseURL = "localhost:11434" }), "must be an http or https URL"},
		"a password":        {with(func(o *Options) { o.BaseURL = "https://u:hunter22@x/v1" }), "user name"},
		"a bad password":    {with(func(o *Options) { o.BaseURL = "https://u:hunter22@x y/v1" }), "must be an http or https URL"},
		"a query":           {with(func(o *Options) { o.BaseURL = "https://x/v1?key=hunter22" }), "query"},
		"the endpoint":      {with(func(o *Options) { o.BaseURL = "https://x/v1/chat/completions/" }), "must not include /chat/completions"},
		"Azure":             {Options{Model: "m", APIVersion: "2024-10-21"}, "base URL of the resource"},
		"max tokens":        {with(func(o *Options) { o.MaxTokens = -1 }), "max tokens"},
		"its field":         {with(func(o *Options) { o.MaxTokensField = "n" }), "max_completion_tokens"},
		"temperature":       {with(func(o *Options) { o.Temperature = &cold }), "temperature"},
		"no number":         {with(func(o *Options) { o.Temperature = &nan }), "temperature"},
		"a time":            {with(func(o *Options) { o.Stall = -1 }), "stall"},
		"a size":            {with(func(o *Options) { o.MaxReply = -1 }), "max event and max reply must not be negative"},
		"a header":          {with(func(o *Options) { o.Headers = map[string]string{"a b": "x"} }), "not a valid header name"},
		"its value":         {with(func(o *Options) { o.Headers = map[string]string{"X-A": "hunter22\nX-B: y"} }), "X-A must not contain line breaks"},
		"a key in it":       {with(func(o *Options) { o.Headers = map[string]string{"authorization": "Bearer hunter22"} }), "the key comes from an environment variable"},
		"api-key":           {with(func(o *Options) { o.Headers = map[string]string{"api-key": "hunter22"} }), "the key comes from an environment variable"},
		"a fixed header":    {with(func(o *Options) { o.Headers = map[string]string{"content-type": "x"} }), "the protocol defines it"},
		"organization":      {with(func(o *Options) { o.Organization = "a\r\nb" }), "control character"},
		"extra":             {with(func(o *Options) { o.Extra = map[string]any{"stream": false} }), `"stream" must not be set`},
		"extra, bad":        {with(func(o *Options) { o.Extra = map[string]any{"x": func() {}} }), `"x"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(test.o)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, expected %q in it", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter22") {
				t.Errorf("a secret is in the error %q", err)
			}
		})
	}
}

func TestKeysAndAddresses(t *testing.T) {
	env := map[string]string{OpenAIKeyEnv: "sk-openai", AzureKeyEnv: "azure-key", "MINE": " sk-mine\n", "TWO": "a\nb"}
	for name, test := range map[string]struct {
		o            Options
		url, header  string
		field, wrong string
	}{
		"OpenAI":        {o: Options{}, url: DefaultBaseURL + "/chat/completions", header: "Bearer sk-openai", field: FieldMaxCompletionTokens},
		"OpenAI, named": {o: Options{BaseURL: DefaultBaseURL + "/", KeyEnv: "MINE"}, url: DefaultBaseURL + "/chat/completions", header: "Bearer sk-mine", field: FieldMaxCompletionTokens},
		"Azure":         {o: Options{BaseURL: "https://v.openai.azure.com", APIVersion: "2024-10-21"}, url: "https://v.openai.azure.com/openai/deployments/m%2Fx/chat/completions?api-version=2024-10-21", header: "azure-key", field: FieldMaxCompletionTokens},
		"Azure, v1":     {o: Options{BaseURL: "https://v.openai.azure.com/openai/v1"}, url: "https://v.openai.azure.com/openai/v1/chat/completions", header: "Bearer azure-key", field: FieldMaxCompletionTokens},
		"Ollama":        {o: Options{BaseURL: "http://localhost:11434/v1/"}, url: "http://localhost:11434/v1/chat/completions", field: FieldMaxTokens},
		"a likeness":    {o: Options{BaseURL: "https://api.openai.com.example/v1"}, url: "https://api.openai.com.example/v1/chat/completions", field: FieldMaxTokens},
		"in the clear":  {o: Options{BaseURL: "http://api.openai.com/v1"}, url: "http://api.openai.com/v1/chat/completions", field: FieldMaxTokens},
		"unset":         {o: Options{KeyEnv: "NOBODY"}, wrong: "NOBODY is not set"},
		"two lines":     {o: Options{KeyEnv: "TWO"}, wrong: "TWO must not contain line breaks"},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.Model = "m/x"
			test.o.Getenv = func(name string) string { return env[name] }
			m, err := New(test.o)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Fatalf("error %v, expected %q in it", err, test.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			header := m.Header().Get(headerAuth) + m.Header().Get(headerAPIKey)
			if m.URL() != test.url || header != test.header || test.o.withDefaults().MaxTokensField != test.field {
				t.Errorf("%s, key %q, %s, expected %s, %q, %s", m.URL(), header, test.o.withDefaults().MaxTokensField, test.url, test.header, test.field)
			}
		})
	}
}

func TestModelDoesNotTellItsKey(t *testing.T) {
	m, err := New(Options{Model: "m", Headers: map[string]string{"X-Gateway": "gateway-secret"}, Getenv: func(string) string { return testKey }})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "model", m)
	for _, text := range []string{fmt.Sprint(m), fmt.Sprintf("%+v", m), fmt.Sprintf("%#v", m), fmt.Sprintf("%s %q", m, m), log.String()} {
		if strings.Contains(text, testKey) || strings.Contains(text, "gateway-secret") {
			t.Errorf("a secret is in %s", text)
		}
	}
}
