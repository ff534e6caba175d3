package twilio

import (
	"encoding/xml"
	"net/http"
)

func write(w http.ResponseWriter, answer response) {
	b, err := xml.Marshal(answer)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write(append([]byte(xml.Header), b...)) // Twilio repeats a webhook without an answer
}

// response is an answer in TwiML. Its verbs are carried out in the order of the fields.
type response struct {
	XMLName  xml.Name `xml:"Response"`
	Connect  *connect `xml:"Connect"`
	Dial     *dial    `xml:"Dial"`
	Redirect string   `xml:"Redirect,omitempty"`
	Hangup   *empty   `xml:"Hangup"`
	Reject   *reject  `xml:"Reject"`
}

type empty struct{}

type connect struct {
	Stream stream `xml:"Stream"`
}

type stream struct {
	URL        string      `xml:"url,attr"`
	Parameters []parameter `xml:"Parameter"`
}

type parameter struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type dial struct {
	Action  string `xml:"action,attr"`
	Timeout int    `xml:"timeout,attr"` // seconds
	From    string `xml:"callerId,attr,omitempty"`
	Number  *noun  `xml:"Number"`
	SIP     *noun  `xml:"Sip"`
}

// noun is whom to call, and whether that is told.
type noun struct {
	Callback string `xml:"statusCallback,attr"`
	Events   string `xml:"statusCallbackEvent,attr"`
	To       string `xml:",chardata"`
}

type reject struct {
	Reason string `xml:"reason,attr"`
}

func refusal(busy bool) response {
	reason := "rejected"
	if busy {
		reason = "busy"
	}
	return response{Reject: &reject{Reason: reason}}
}

// streaming connects a stream. When it has ended, Twilio asks what to do with the call.
func streaming(media, token, again string) response {
	return response{
		Connect:  &connect{Stream: stream{URL: media, Parameters: []parameter{{Name: "token", Value: token}}}},
		Redirect: again,
	}
}
