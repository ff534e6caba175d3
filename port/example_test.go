package port_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/hocketvoice/hocket/port"
)

// clock is a tool written as Go code.
type clock struct{}

func (clock) Specs() []port.ToolSpec {
	return []port.ToolSpec{{Name: "time", Description: "the time in a city", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}}
}

func (clock) Call(_ context.Context, call port.ToolCall, _ func(string)) (string, error) {
	if !strings.Contains(call.Arguments, "Ulm") {
		return "", &port.Failure{Code: "TOOL_ERROR", Message: "this clock knows Ulm alone"}
	}
	return `{"time":"09:00"}`, nil
}

// A tool describes itself, runs a call once, and reports failures with a class.
func ExampleTool() {
	var tool port.Tool = clock{}
	for _, arguments := range []string{`{"city":"Ulm"}`, `{"city":"Rome"}`} {
		out, err := tool.Call(context.Background(), port.ToolCall{ID: "1", Name: "time", Arguments: arguments}, nil)
		fmt.Println(out, err)
	}
	// Output:
	// {"time":"09:00"} <nil>
	//  TOOL_ERROR: this clock knows Ulm alone
}

// echo is a language model that repeats the last message word by word.
type echo struct{}

func (echo) Reply(_ context.Context, r port.Request, emit func(port.Delta) error) error {
	for _, word := range strings.Fields(r.Messages[len(r.Messages)-1].Content) {
		if err := emit(port.Delta{Text: word + " "}); err != nil {
			return err
		}
	}
	return nil
}

// A model emits its answer in pieces, as they arrive.
func ExampleModel() {
	var model port.Model = echo{}
	request := port.Request{Messages: []port.Message{{Role: "user", Content: "good morning"}}}
	err := model.Reply(context.Background(), request, func(d port.Delta) error {
		fmt.Printf("%q\n", d.Text)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// "good "
	// "morning "
}
