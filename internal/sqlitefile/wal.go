package sqlitefile

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Source: https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
const (
	walHeader   = 32
	frameHeader = 24
	walMagic    = 0x377f0682 // the last bit selects checksums of big-endian words
	largestPage = 65536
)

// DamagedError reports a damaged write-ahead log. SQLite would read the frames before
// the damage and silently ignore the others.
type DamagedError struct {
	Path string
	At   int64 // position of the first byte that is not read
	Size int64 // of the log in bytes
}

// Error describes the loss.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("the write-ahead log %s is damaged at byte %d of %d: what was saved behind it is lost, and older versions of it are read", e.Path, e.At, e.Size)
}

// EmptyLog moves the write-ahead log of a database into its file and empties it. It reports
// whether it could not, because others read the log.
func EmptyLog(ctx context.Context, db *sql.DB) (busy bool, err error) {
	var pages, moved int
	err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	return busy, err
}

// CheckLog checks the write-ahead log of a database before it is opened. It returns a
// [*DamagedError] if the log is damaged. A partial write by a process that was killed
// is not damage, nor are the remaining frames of an earlier log.
func CheckLog(path string) error {
	path += "-wal"
	// SQLite locks other files of the database, so closing this one drops no locks.
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for range 3 {
		again, err := checkLog(f, path)
		if !again {
			return err
		}
	}
	return nil // another process is writing and has read the log itself
}

// checkLog checks the log once. It returns true if the log was restarted in the
// meantime.
func checkLog(f *os.File, path string) (again bool, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	damaged := func(at int64) error { return &DamagedError{Path: path, At: at, Size: info.Size()} }
	var head, now [walHeader]byte
	if n, err := f.ReadAt(head[:], 0); n < walHeader {
		if errors.Is(err, io.EOF) {
			return false, nil // the process was killed during the first write
		}
		return false, err
	}
	magic, page := binary.BigEndian.Uint32(head[:]), int(binary.BigEndian.Uint32(head[8:]))
	sum := walSum{little: magic&1 == 0}
	sum.add(head[:24])
	if magic&^1 != walMagic || page < 512 || page > largestPage || page&(page-1) != 0 || !sum.is(head[24:32]) {
		return false, damaged(0)
	}
	bad, err := badFrame(io.NewSectionReader(f, walHeader, info.Size()-walHeader), head[16:24], page, sum)
	if err != nil || bad < 0 {
		return false, err
	}
	if n, _ := f.ReadAt(now[:], 0); n < walHeader || now != head { // truncated or restarted
		return true, nil
	}
	return false, damaged(walHeader + bad*int64(frameHeader+page))
}

// badFrame returns the number of the first frame that SQLite would not read, although
// valid frames of this log follow or the frame is complete and the last one. It returns
// -1 if there is none.
func badFrame(r io.Reader, salt []byte, page int, sum walSum) (int64, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	frame := make([]byte, frameHeader+page)
	first := int64(-1) // the first frame that is not read
	own := false       // it has the salt of this log, and is the last one so far
	for n := int64(0); ; n++ {
		switch _, err := io.ReadFull(in, frame); {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return -1, nil // the writer was killed
		case errors.Is(err, io.EOF) && own:
			return first, nil
		case errors.Is(err, io.EOF):
			return -1, nil
		case err != nil:
			return -1, err
		}
		ours := bytes.Equal(frame[8:16], salt)
		if first >= 0 {
			if ours {
				return first, nil
			}
			own = false // a page that was being written over an earlier frame
			continue
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		if !ours || !sum.is(frame[16:24]) {
			first, own = n, ours
		}
	}
}

// walSum is the checksum of the log.
type walSum struct {
	little bool
	a, b   uint32
}

func (s *walSum) add(b []byte) {
	order := binary.ByteOrder(binary.BigEndian)
	if s.little {
		order = binary.LittleEndian
	}
	for ; len(b) >= 8; b = b[8:] {
		s.a += order.Uint32(b) + s.b
		s.b += order.Uint32(b[4:]) + s.a
	}
}

func (s *walSum) is(b []byte) bool {
	return binary.BigEndian.Uint32(b) == s.a && binary.BigEndian.Uint32(b[4:]) == s.b
}
