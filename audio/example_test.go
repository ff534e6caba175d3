package audio_test

import (
	"bytes"
	"fmt"
	"io"
	"log"

	"github.com/hocketvoice/hocket/audio"
)

// Telephone sound at 8 kHz is written to a WAV file, read back and resampled.
func Example() {
	pcm := make([]int16, 8000) // a second
	for i := range pcm {
		pcm[i] = int16(1000 * (i % 8))
	}
	file, err := bufferedWAV(pcm)
	if err != nil {
		log.Fatal(err)
	}
	r, err := audio.NewWAVReader(file, audio.WAVReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	back, err := r.ReadAllMono(0)
	if err != nil {
		log.Fatal(err)
	}
	wide, err := audio.Resample(back, r.Format().Rate, 16000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(back), "samples at", r.Format().Rate, "Hz,", len(wide), "at 16000 Hz")
	fmt.Printf("%.1f dBFS\n", audio.DBFS(audio.RMS(back)))
	// Output:
	// 8000 samples at 8000 Hz, 16000 at 16000 Hz
	// -17.9 dBFS
}

// bufferedWAV is a WAV file in memory.
func bufferedWAV(pcm []int16) (io.Reader, error) {
	var b bytes.Buffer
	w, err := audio.NewWAVWriter(&b, audio.WAVWriterOptions{Rate: 8000})
	if err != nil {
		return nil, err
	}
	if err := w.Write(pcm); err != nil {
		return nil, err
	}
	return &b, w.Close()
}
