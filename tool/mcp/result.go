package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hocketvoice/hocket/internal/redact"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// output converts a tool's result to text: the structured result as JSON if there
// is one, or else its texts, with placeholders for other content.
func (v *server) output(tool string, r *sdk.CallToolResult) (string, error) {
	text := texts(r.Content)
	if r.IsError {
		if text == "" {
			text = "the tool reported an error without a message"
		}
		f := &port.Failure{Code: errclass.ToolError, Message: redact.Cut(v.hide(text), maxFailure)}
		if len(text) > maxFailure {
			f.Partial = redact.Cut(text, maxResult)
		}
		return "", f
	}
	if r.NeedsInput() {
		return "", toolError("%s asks for more input, which is not supported", tool)
	}
	if r.StructuredContent != nil {
		b, err := json.Marshal(r.StructuredContent)
		if err != nil {
			return "", toolError("%s: the structured result is not valid JSON", tool)
		}
		text = string(b)
	}
	if len(text) > maxResult {
		return "", toolError("%s: the result has %d bytes: expected at most %d", tool, len(text), maxResult)
	}
	return text, nil
}

// texts joins the texts of a result.
func texts(content []sdk.Content) string {
	var all []string
	for _, c := range content {
		switch c := c.(type) {
		case *sdk.TextContent:
			all = append(all, c.Text)
		case *sdk.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				all = append(all, c.Resource.Text)
			} else if c.Resource != nil {
				all = append(all, fmt.Sprintf("[resource %s]", c.Resource.URI))
			}
		case *sdk.ResourceLink:
			all = append(all, fmt.Sprintf("[resource %s]", c.URI))
		case *sdk.ImageContent:
			all = append(all, fmt.Sprintf("[image, %d bytes]", len(c.Data)))
		case *sdk.AudioContent:
			all = append(all, fmt.Sprintf("[sound, %d bytes]", len(c.Data)))
		default:
			all = append(all, "[content of another kind]")
		}
	}
	return strings.ToValidUTF8(strings.Join(all, "\n"), "?")
}

// progressText converts a progress notification to text.
func progressText(p *sdk.ProgressNotificationParams) update {
	switch {
	case p.Message != "":
		message := strings.ToValidUTF8(p.Message, "?")
		return update{redact.Cut(redact.OneLine(message), maxProgress), redact.Cut(message, maxPartial)}
	case p.Total > 0:
		return update{text: fmt.Sprintf("%.0f%%", max(0, min(100, 100*p.Progress/p.Total)))}
	default:
		return update{}
	}
}

func toolError(format string, args ...any) *port.Failure {
	return &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf(format, args...)}
}
