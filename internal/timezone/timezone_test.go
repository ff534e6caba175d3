package timezone

import (
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"Europe/Berlin": "+02:00", "Pacific/Auckland": "+12:00", "UTC": "+00:00", "+05:30": "+05:30", "-03:00": "-03:00",
	} {
		loc, err := Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := at.In(loc).Format("-07:00"); got != want {
			t.Errorf("%s has the offset %s in July, expected %s", name, got, want)
		}
	}
	for _, name := range []string{
		"", "Local", "Berlin", "../etc/passwd", "/etc/localtime", "Europe/Berlin\x00", "+25:00", "2026", "Etc/Unknown",
		"localtime", "posixrules", "right/UTC",
	} {
		if loc, err := Load(name); err == nil {
			t.Errorf("%q is %v, expected an error", name, loc)
		}
	}
}

// TestName checks that Name returns a zone's name, or the offset for zones without a name,
// and that Of keeps the time.
func TestName(t *testing.T) {
	berlin, err := Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		loc  *time.Location
		want string
	}{
		{time.UTC, "UTC"},
		{berlin, "Europe/Berlin"},
		{time.FixedZone("", -3*3600), "-03:00"},
		{time.FixedZone("Local", 3600), "+01:00"},
		{time.FixedZone("Europe/Berlin", 3600), "+01:00"},
		{time.FixedZone("", 0), "+00:00"},
	} {
		now := at.In(x.loc)
		if got := Name(now); got != x.want {
			t.Errorf("%v is named %s, expected %s", now, got, x.want)
		}
		if got, want := now.In(Of(now)).Format(time.RFC3339), now.Format(time.RFC3339); got != want {
			t.Errorf("found again it is %s, expected %s", got, want)
		}
	}
}
