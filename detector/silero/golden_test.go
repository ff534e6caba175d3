package silero

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// weightsPath returns the path at which the weights are expected.
func weightsPath() string {
	if path := os.Getenv("HOCKET_SILERO"); path != "" {
		return path
	}
	return installed("silero_vad_v6.onnx")
}

// installed returns the path of a model file in third_party.
func installed(name string) string {
	return filepath.Join("..", "..", "third_party", name)
}

// weights reads the weights. It skips the test if there are none.
func weights(t testing.TB) *Model {
	t.Helper()
	m, err := Load(weightsPath())
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the weights are not installed: put silero_vad_v6.onnx into third_party, or name it in HOCKET_SILERO")
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// recordingPCM reads one of the shared recordings: mono, 16 bit, 16 kHz.
func recordingPCM(t *testing.T, name string) []int16 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", filepath.FromSlash(name)))
	if err != nil {
		t.Skipf("the recording is not here: %s lies in the folder shared/data beside the repository", name)
	}
	at := bytes.Index(data, []byte("data"))
	if !bytes.HasPrefix(data, []byte("RIFF")) || at < 0 || at+8 > len(data) {
		t.Fatalf("%s: not a WAV file", name)
	}
	size := int(binary.LittleEndian.Uint32(data[at+4:]))
	data = data[at+8:]
	pcm := make([]int16, min(size, len(data))/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return pcm
}

// TestGolden compares the results with those of onnxruntime for the same file, window
// by window. testdata/golden.py created them. The largest difference over all shared
// recordings is 4e-6.
func TestGolden(t *testing.T) {
	m := weights(t)
	if !m.Pinned() {
		t.Skipf("the figures belong to the weights %s, these are %s", PinnedSHA256, m.SHA256())
	}
	testGolden(t, m, "golden_v6.json")
}

// TestGoldenV5 does the same with version 5, which a config may select.
func TestGoldenV5(t *testing.T) {
	m, err := Load(installed("silero_vad_v5.onnx"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("version 5 is not installed: put silero_vad_v5.onnx into third_party")
	}
	if err != nil {
		t.Fatal(err)
	}
	if m.Pinned() {
		t.Error("version 5 is taken for the pinned file")
	}
	testGolden(t, m, "golden_v5.json")
}

func testGolden(t *testing.T, m *Model, file string) {
	t.Helper()
	const tolerance = 2e-5
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Model   string               `json:"model"`
		Signals map[string][]float64 `json:"signals"`
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if golden.Model != m.SHA256() || len(golden.Signals) < 2 {
		t.Fatalf("%s is for model %s with %d signals, expected %s with 2 or more", file, golden.Model, len(golden.Signals), m.SHA256())
	}
	for name, want := range golden.Signals {
		t.Run(name, func(t *testing.T) {
			pcm := synthetic()
			if name != "synthetic" {
				pcm = recordingPCM(t, name)
			}
			if len(pcm)/chunkSize != len(want) || len(want) == 0 {
				t.Fatalf("%d windows of sound, %d figures", len(pcm)/chunkSize, len(want))
			}
			s := &Stream{model: m}
			worst := 0.0
			for i, w := range want {
				p := s.Write(pcm[i*chunkSize : (i+1)*chunkSize])
				worst = max(worst, math.Abs(p-w))
				if math.Abs(p-w) > tolerance {
					t.Fatalf("window %d: probability %.6f, onnxruntime has %.6f", i, p, w)
				}
			}
			t.Logf("%d windows, largest difference %.1e", len(want), worst)
		})
	}
}
