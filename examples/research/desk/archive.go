package main

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// entry is one item of the archive.
type entry struct {
	Title string `json:"title"`
	Year  int    `json:"year"`
}

// found is the result of a search.
type found struct {
	Entries int   `json:"entries"`
	Oldest  entry `json:"oldest"`
}

// shelves returns the archive, by shelf and topic.
func shelves() []map[string][]entry {
	return []map[string][]entry{
		{"carillon": {{"a keyboard from Oudenaarde", 1510}}, "hocket": {{"a motet with a hocket", 1322}}},
		{"bell ringing": {{"a book of changes", 1668}}},
		{"hocket": {{"a double hocket", 1360}}, "barrel organ": {}},
	}
}

// archive returns an MCP server with one tool, which searches shelf by shelf.
func archive(pace time.Duration) *sdk.Server {
	type query struct {
		Topic string `json:"topic" jsonschema:"what to look for"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "archive", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "search", Description: "Counts what the archive has about a topic."},
		func(ctx context.Context, r *sdk.CallToolRequest, q query) (*sdk.CallToolResult, found, error) {
			all := shelves()
			var f found
			for i, shelf := range all {
				if token := r.Params.GetProgressToken(); token != nil {
					p := &sdk.ProgressNotificationParams{
						ProgressToken: token, Progress: float64(i), Total: float64(len(all)),
						Message: fmt.Sprintf("I am at shelf %d of %d", i+1, len(all)),
					}
					if err := r.Session.NotifyProgress(ctx, p); err != nil {
						return nil, f, err
					}
				}
				if err := wait(ctx, pace); err != nil {
					return nil, f, err
				}
				for _, e := range shelf[q.Topic] {
					if f.Entries++; f.Entries == 1 || e.Year < f.Oldest.Year {
						f.Oldest = e
					}
				}
			}
			return nil, f, nil
		})
	return s
}

// transport returns the transport over standard input and output.
func transport() sdk.Transport { return &sdk.StdioTransport{} }
