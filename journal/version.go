package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// agentFiles are the files of an agent as a store keeps them, with names relative to the
// agent's folder.
type agentFiles struct {
	Format  string       `json:"format"` // "hocket agent"
	Version int          `json:"version"`
	Files   []agent.File `json:"files"`
}

const (
	agentFormat  = "hocket agent"
	agentVersion = 1
)

// EncodeAgent returns the files of an agent as a store keeps them, and their digest, which
// tells one version of an agent from another: it is the same for the same files with the
// same names, wherever their folder is.
func EncodeAgent(files []agent.File) (digest string, b []byte, err error) {
	b, err = json.Marshal(agentFiles{agentFormat, agentVersion, relative(files)})
	if err != nil {
		return "", nil, fmt.Errorf("agent: %w", err)
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:]), b, nil
}

// DecodeAgent decodes the output of [EncodeAgent]. It returns an error if the files do not
// have the digest.
func DecodeAgent(digest string, b []byte) ([]agent.File, error) {
	sum := sha256.Sum256(b)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != digest {
		return nil, fmt.Errorf("agent: the digest of the files is %s: expected %s", got, digest)
	}
	var a agentFiles
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, fmt.Errorf("agent: invalid JSON: %w", err)
	}
	if a.Format != agentFormat || a.Version != agentVersion || len(a.Files) == 0 {
		return nil, errors.New("agent: the JSON is not that of an agent's files")
	}
	return a.Files, nil
}

// ShortDigest returns the beginning of a digest, for people.
func ShortDigest(digest string) string {
	const short = len("sha256:") + 12
	if len(digest) <= short {
		return digest
	}
	return digest[len("sha256:"):short]
}
