package sip

import (
	"context"
	"errors"
	"fmt"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

// login is a name with its password at another server.
type login struct{ name, password string }

var errLogin = errors.New("the name or the password is wrong, or the server asks for them in a way that is not supported")

// asks reports whether an answer asks for a password.
func asks(res *sip.Response) bool {
	return res.StatusCode == sip.StatusUnauthorized || res.StatusCode == sip.StatusProxyAuthRequired
}

// onto adds the answer to the question of a server to the next attempt of a request. It returns an error
// if the last attempt had one that was not out of date.
func (l login) onto(req *sip.Request, res *sip.Response, tried bool) error {
	question, answer := "WWW-Authenticate", "Authorization"
	if res.StatusCode == sip.StatusProxyAuthRequired {
		question, answer = "Proxy-Authenticate", "Proxy-Authorization"
	}
	for _, h := range res.GetHeaders(question) {
		ch, err := digest.ParseChallenge(h.Value())
		if err != nil || !digest.CanDigest(ch) || tried && !ch.Stale {
			continue
		}
		c, err := digest.Digest(ch, digest.Options{
			Method: string(req.Method), URI: req.Recipient.String(), Username: l.name, Password: l.password,
		})
		if err != nil {
			continue
		}
		req.AppendHeader(sip.NewHeader(answer, c.String()))
		return nil
	}
	return errLogin
}

// challenged reports whether an answer to a request of ours asks for a password that there is.
func (c *call) challenged(res *sip.Response) bool { return asks(res) && c.login.name != "" }

// again sends a request of the dialog again, with a password.
func (c *call) again(ctx context.Context, method sip.RequestMethod, res *sip.Response) (*sip.Response, error) {
	req := c.dialog.request(method)
	if err := c.login.onto(req, res, false); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return c.s.do(ctx, req)
}
