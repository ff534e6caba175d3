package app

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/leg/webrtc"
)

// portRange parses a range such as 50000-50100. An empty text means no range.
func portRange(text string) (webrtc.PortRange, error) {
	if text == "" {
		return webrtc.PortRange{}, nil
	}
	low, high, ok := strings.Cut(text, "-")
	from, err1 := strconv.ParseUint(low, 10, 16)
	to, err2 := strconv.ParseUint(high, 10, 16)
	if !ok || err1 != nil || err2 != nil || from == 0 || to < from {
		return webrtc.PortRange{}, fmt.Errorf("is %q: expected a range of ports, such as 50000-50100", text)
	}
	return webrtc.PortRange{Min: uint16(from), Max: uint16(to)}, nil
}

// iceServices returns the STUN and TURN servers of the config, with the secrets from the
// environment variables that it names.
func iceServices(list []config.ICEServer) ([]webrtc.ICEService, error) {
	services := make([]webrtc.ICEService, len(list))
	for i, c := range list {
		services[i] = webrtc.ICEService{
			URLs: c.URLs, Secret: os.Getenv(c.SecretEnv), Valid: time.Duration(c.Valid), Username: c.Username, Credential: os.Getenv(c.CredentialEnv),
		}
		for _, name := range []string{c.SecretEnv, c.CredentialEnv} {
			if name != "" && os.Getenv(name) == "" {
				return nil, fmt.Errorf("server.webrtc.ice_servers[%d]: the environment variable %s is not set", i, name)
			}
		}
		if err := services[i].Validate(); err != nil {
			return nil, fmt.Errorf("server.webrtc.ice_servers[%d]: %w", i, err)
		}
	}
	return services, nil
}

// webrtcProblems returns the problems of the section server.webrtc. Environment variables
// are checked when the server starts.
func webrtcProblems(c *config.Config) config.Problems {
	var all config.Problems
	w := c.Server.WebRTC
	if _, err := portRange(w.Ports); err != nil {
		all = append(all, c.Problem("server.webrtc.ports", err.Error()))
	}
	for i, name := range w.PublicIPs {
		if !webrtc.IsHost(name) {
			all = append(all, c.Problem(fmt.Sprintf("server.webrtc.public_ips[%d]", i), fmt.Sprintf("is %q: expected an IP address or a host name", name)))
		}
	}
	for i, s := range w.ICEServers {
		placeholder := webrtc.ICEService{URLs: s.URLs, Secret: s.SecretEnv, Username: s.Username, Credential: s.CredentialEnv}
		if err := placeholder.Validate(); err != nil {
			all = append(all, c.Problem(fmt.Sprintf("server.webrtc.ice_servers[%d]", i), err.Error()))
		}
	}
	return all
}

// isAddress reports whether a text is HOST:PORT with a port number.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}
