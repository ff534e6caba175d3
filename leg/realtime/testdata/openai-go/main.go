// Command openai-go runs OpenAI's SDK for Go as a client of hocket's Realtime server.
// It prints the results of its checks.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	openai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/realtime"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	client := openai.NewClient(
		option.WithAPIKey(os.Getenv("KEY")), option.WithBaseURL(os.Getenv("SERVER")+"/v1/"), option.WithQuery("model", "mock"),
	)
	check("G01", "ClientSecrets.New returns an ek_ value", func() error {
		s, err := client.Realtime.ClientSecrets.New(ctx, realtime.ClientSecretNewParams{})
		return ok(err, strings.HasPrefix(s.Value, "ek_"), s)
	})
	var conn *realtime.RealtimeConnection
	check("G02", "Realtime.Connect over plain ws", func() (err error) {
		conn, err = client.Realtime.Connect(ctx, realtime.RealtimeConnectionOptions{})
		return err
	})
	if conn == nil {
		return
	}
	c := &talk{ctx: ctx, conn: conn, said: make(chan []byte, 8)}
	check("G03", "session.created decodes", func() error {
		e, err := c.wait("session.created", nil)
		return ok(err, e.AsSessionCreatedEvent().Session.AsRealtimeSessionCreateRequest().Audio.Input.TurnDetection.Type == "server_vad", e.RawJSON())
	})
	check("G04", "a typed session.update gives session.updated", func() error {
		err := conn.Send(ctx, realtime.RealtimeClientEventUnionParam{OfSessionUpdate: &realtime.SessionUpdateEventParam{
			Session: realtime.SessionUpdateEventSessionUnionParam{OfRealtime: &realtime.RealtimeSessionCreateRequestParam{
				Instructions: openai.String("Be brief."), OutputModalities: []string{"text"},
			}},
		}})
		if err != nil {
			return err
		}
		e, err := c.wait("session.updated", nil)
		return ok(err, strings.Contains(e.RawJSON(), "Be brief."), e.RawJSON())
	})
	check("G05", "a text turn completes with output and usage", func() error {
		if err := c.user("hello"); err != nil {
			return err
		}
		e, err := c.wait("response.done", nil)
		r := e.AsResponseDoneEvent().Response
		return ok(err, r.Status == "completed" && len(r.Output) == 1 && r.Usage.TotalTokens > 0, e.RawJSON())
	})
	check("G06", "a spoken turn: speech, commit, audio, done", func() error {
		err := c.send(`{"type":"session.update","session":{"type":"realtime","output_modalities":["audio"],"tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}],"audio":{"input":{"transcription":{"model":"whisper-1"}}}}}`)
		if err != nil {
			return err
		}
		go c.listen()
		c.say("flight")
		for _, name := range []string{"input_audio_buffer.speech_started", "input_audio_buffer.committed", "response.output_audio.delta"} {
			if _, err := c.wait(name, nil); err != nil {
				return err
			}
		}
		e, err := c.wait("response.done", nil)
		return ok(err, e.AsResponseDoneEvent().Response.Status == "completed", e.RawJSON())
	})
	check("G06b", "a tool call and its answer, by voice", func() error {
		c.say("weather")
		call, err := c.wait("response.function_call_arguments.done", nil)
		if err != nil {
			return err
		}
		output := realtime.ConversationItemParamOfFunctionCallOutput(call.AsResponseFunctionCallArgumentsDoneEvent().CallID, "sunny")
		if err := conn.Send(ctx, realtime.RealtimeClientEventUnionParam{OfConversationItemCreate: &realtime.ConversationItemCreateEventParam{Item: output}}); err != nil {
			return err
		}
		if err := c.send(`{"type":"response.create"}`); err != nil {
			return err
		}
		e, err := c.wait("response.done", func(e realtime.RealtimeServerEventUnion) bool { return strings.Contains(e.RawJSON(), "sunny") })
		return ok(err, e.AsResponseDoneEvent().Response.Status == "completed", e.RawJSON())
	})
	check("G06c", "a barge-in cancels the response", func() error {
		c.say("story")
		for range 80 {
			if _, err := c.wait("response.output_audio.delta", nil); err != nil {
				return err
			}
		}
		c.say("flight")
		e, err := c.wait("response.done", nil)
		r := e.AsResponseDoneEvent().Response
		if err := ok(err, r.Status == "cancelled" && strings.Contains(r.RawJSON(), "turn_detected"), e.RawJSON()); err != nil {
			return err
		}
		_, err = c.wait("response.done", nil)
		return err
	})
	check("G07", "every event type is known to the SDK; no errors", func() error { return errors.Join(c.problems...) })
	conn.Abort()
}

func check(id, what string, f func() error) {
	if err := f(); err != nil {
		fmt.Printf("failed %s %s: %s\n", id, what, strings.ReplaceAll(err.Error(), "\n", " | "))
		return
	}
	fmt.Printf("ok %s %s\n", id, what)
}

func ok(err error, good bool, what any) error {
	if err == nil && !good {
		err = fmt.Errorf("%v", what)
	}
	return err
}

type talk struct {
	ctx      context.Context
	conn     *realtime.RealtimeConnection
	problems []error
	said     chan []byte
}

// wait receives events until one of the type satisfies good.
func (c *talk) wait(name string, good func(realtime.RealtimeServerEventUnion) bool) (realtime.RealtimeServerEventUnion, error) {
	for {
		e, err := c.conn.Recv(c.ctx)
		if err != nil {
			return e, fmt.Errorf("waiting for %s: %w", name, err)
		}
		if e.AsAny() == nil || e.Type == "error" {
			c.problems = append(c.problems, errors.New(e.RawJSON()))
		}
		if e.Type == name && (good == nil || good(e)) {
			return e, nil
		}
	}
}

func (c *talk) send(event string) error { return c.conn.SendRaw(c.ctx, json.RawMessage(event)) }

func (c *talk) user(text string) error {
	if err := c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}}`); err != nil {
		return err
	}
	return c.conn.Send(c.ctx, realtime.RealtimeClientEventUnionParam{OfResponseCreate: &realtime.ResponseCreateEventParam{}})
}

// say sends a recording through the microphone.
func (c *talk) say(name string) {
	pcm, err := os.ReadFile(filepath.Join(os.Getenv("SOUNDS"), name+".pcm"))
	if err != nil {
		panic(err)
	}
	c.said <- pcm
}

// listen sends silence, and recordings in between, every 40 ms.
func (c *talk) listen() {
	beat := time.NewTicker(40 * time.Millisecond)
	defer beat.Stop()
	var left []byte
	for range beat.C {
		select {
		case pcm := <-c.said:
			left = append(left, pcm...)
		default:
		}
		piece := make([]byte, 1920)
		left = left[copy(piece, left):]
		if c.conn.Send(c.ctx, realtime.RealtimeClientEventUnionParam{OfInputAudioBufferAppend: &realtime.InputAudioBufferAppendEventParam{
			Audio: base64.StdEncoding.EncodeToString(piece),
		}}) != nil {
			return
		}
	}
}
