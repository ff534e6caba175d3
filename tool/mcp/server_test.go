//go:build unix

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// serverEnv turns the test's program into an MCP server on its standard streams.
const serverEnv = "HOCKET_MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(serverEnv) {
	case "":
		goleak.VerifyTestMain(m)
	case "silent": // reads and never answers
		fmt.Fprintln(os.Stderr, "I say nothing, and my key is", os.Getenv("TEST_KEY"))
		freeze()
	case "broken":
		fmt.Fprintln(os.Stderr, "no database: is it there?")
		os.Exit(3)
	default:
		if err := testServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

type (
	words struct {
		Text string `json:"text"`
	}
	counts struct {
		N int `json:"n" jsonschema:"how many"`
	}
	sums struct {
		Sum  int               `json:"sum"`
		Deep map[string]string `json:"deep"`
	}
)

// testServer returns a server with a tool for each feature.
func testServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	var calledOff atomic.Int64
	text := func(t string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}}
	}
	reading := &sdk.ToolAnnotations{ReadOnlyHint: true}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says it again.", Annotations: reading},
		func(_ context.Context, _ *sdk.CallToolRequest, in words) (*sdk.CallToolResult, any, error) {
			return text(in.Text), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "sum"},
		func(_ context.Context, _ *sdk.CallToolRequest, in counts) (*sdk.CallToolResult, sums, error) {
			return nil, sums{in.N * 2, map[string]string{"er": "found"}}, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "key"},
		func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			return text(fmt.Sprint(r.Params.Meta["hocket/idempotency-key"])), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return nil, nil, errors.New("no such table")
		})
	sdk.AddTool(s, &sdk.Tool{Name: "tell"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return nil, nil, errors.New("no entry with " + os.Getenv("TEST_KEY"))
		})
	sdk.AddTool(s, &sdk.Tool{Name: "hang"},
		func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})
	sdk.AddTool(s, &sdk.Tool{Name: "delegate"}, // reports progress and waits
		func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			for i, words := range []string{"found one", "", "found two"} {
				p := &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 4, Message: words}
				if err := r.Session.NotifyProgress(ctx, p); err != nil {
					return nil, nil, err
				}
			}
			<-ctx.Done()
			calledOff.Add(1)
			return nil, nil, ctx.Err()
		})
	sdk.AddTool(s, &sdk.Tool{Name: "called_off"}, // returns the number of cancelled calls
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return text(fmt.Sprint(calledOff.Load())), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "verbose"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return nil, nil, errors.New(strings.Repeat("bad ", 200))
		})
	sdk.AddTool(s, &sdk.Tool{Name: "freeze"}, // stops answering
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			freeze()
			return text("never"), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "die"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			die()
			return nil, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "big"},
		func(_ context.Context, _ *sdk.CallToolRequest, in counts) (*sdk.CallToolResult, any, error) {
			return text(strings.Repeat("x", in.N)), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "environment"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return text(strings.Join(os.Environ(), "\n")), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "child"}, // starts a child that outlives the server unless it is ended
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			c := exec.Command("sleep", "3600")
			if err := c.Start(); err != nil {
				return nil, nil, err
			}
			return text(fmt.Sprint(c.Process.Pid)), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "work"},
		func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			for i := range 3 {
				if token := r.Params.GetProgressToken(); token != nil {
					p := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(i + 1), Total: 4}
					if i == 1 {
						p.Message = "reading\nthe file"
					}
					if err := r.Session.NotifyProgress(ctx, p); err != nil {
						return nil, nil, err
					}
				}
			}
			return text("done"), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "more"}, // adds a tool
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			sdk.AddTool(s, &sdk.Tool{Name: "new"},
				func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
					return text("I am new"), nil, nil
				})
			return text("there is one more"), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "silence"}, // changes the list of tools, which then cannot be read
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
				return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
					if method == "tools/list" {
						<-ctx.Done()
					}
					return next(ctx, method, r)
				}
			})
			s.RemoveTools("echo")
			return text("guess"), nil, nil
		})
	s.AddTool(&sdk.Tool{Name: "picture", InputSchema: &jsonschema.Schema{Type: "object"}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{
				&sdk.TextContent{Text: "here:"}, &sdk.ImageContent{Data: []byte{1, 2, 3}, MIMEType: "image/png"},
				&sdk.ResourceLink{URI: "file:///a"},
			}}, nil
		})
	return s
}

// self returns the test server as a command.
func self(t testing.TB, kind string, change func(*Server)) Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := Server{Name: "test", Command: "env", Args: []string{serverEnv + "=" + kind, program, "-test.run=^$"}}
	if change != nil {
		change(&s)
	}
	return s
}

// opened opens servers, which are closed at the end of the test.
func opened(t testing.TB, servers ...Server) *Tools {
	t.Helper()
	tools, err := Open(t.Context(), Options{Servers: servers, Backoff: time.Millisecond, Grace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tools.Close(); err != nil {
			t.Error(err)
		}
	})
	return tools
}

// overHTTP serves the test server for a test.
func overHTTP(t *testing.T, key string) string {
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return testServer() }, nil)
	return serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
}
