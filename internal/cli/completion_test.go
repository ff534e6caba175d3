package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/conv/view"
)

// TestBashCompletion checks what bash completes with the script.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("script", output(t, "", "completion", "bash"))
	put("my agent.yaml", "")
	put("mine.wav", "")
	for _, tc := range []struct {
		line string // the last word is incomplete
		want []string
	}{
		{"hocket se", []string{"serve"}},
		{"hocket c", []string{"call", "callers", "chat", "check", "conversations", "completion"}},
		{"hocket serve --a", []string{"--agent", "--addr"}},
		{"hocket conversations ", []string{"list", "show", "export", "delete"}},
		{"hocket conversations list --l", []string{"--limit"}},
		{"hocket machine --format ", []string{"table", "json", "mermaid", "dot"}},
		{"hocket call --agent my", []string{"my agent.yaml"}},
		{"hocket call --say serve --ou", []string{"--out"}},
		{"hocket replay mi", []string{"mine.wav"}},
		{"hocket completion ", []string{"bash", "zsh", "fish"}},
		{"hocket serve --addr ", nil},
		{"hocket explore -", []string{"--json", "--progress", "--help", "--version", "-h"}},
		{"hocket nonsense", nil},
	} {
		words := strings.Split(tc.line, " ")
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c",
			`source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hocket; (( ${#COMPREPLY[@]} == 0 )) || printf '%s\n' "${COMPREPLY[@]}"`, "bash")
		cmd.Args = append(cmd.Args, words...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", tc.line, err, out)
		}
		var got []string
		if text := strings.TrimSuffix(string(out), "\n"); text != "" {
			got = strings.Split(text, "\n")
		}
		slices.Sort(got)
		slices.Sort(tc.want)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q is completed by %q, expected %q", tc.line, got, tc.want)
		}
	}
}

// TestFishCompletion checks what fish completes with the script.
func TestFishCompletion(t *testing.T) {
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"script": output(t, "", "completion", "fish"), "agent.yaml": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		line string // the last word is incomplete
		want []string
	}{
		{"hocket se", []string{"serve"}},
		{"hocket serve --ad", []string{"--addr"}},
		{"hocket conversations ", []string{"delete", "export", "list", "show"}},
		{"hocket machine --format ", []string{"dot", "json", "mermaid", "table"}},
		{"hocket init --template ", []string{"both", "flows", "model"}},
		{"hocket call --agent ag", []string{"agent.yaml"}},
		{"hocket test ag", []string{"agent.yaml"}},
		{"hocket serve --addr ", nil},
	} {
		cmd := exec.CommandContext(t.Context(), fish, "--no-config", "-c", `source ./script; complete -C $argv[1]`, tc.line)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", tc.line, err)
		}
		var got []string
		for line := range strings.Lines(string(out)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got = append(got, word)
		}
		slices.Sort(got)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q is completed by %q, expected %q", tc.line, got, tc.want)
		}
	}
}

// TestCompletionKnowsEverything checks that the scripts and the manual contain all
// commands and their flags, and that the installed shells can read their scripts.
func TestCompletionKnowsEverything(t *testing.T) {
	texts := map[string]string{"manual": strings.ReplaceAll(output(t, "", "man"), `\-`, "-")}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		texts[shell] = output(t, "", "completion", shell)
		program, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), program, "-n")
		cmd.Stdin = strings.NewReader(texts[shell])
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s cannot read its script: %v: %s", shell, err, out)
		}
	}
	commands := 0
	for _, command := range []string{"serve", "call", "chat", "step", "turn", "machine", "explore", "replay", "check", "import rasa", "conversations export", "bench ws", "completion", "man", "version", "init", "test"} {
		help := output(t, "", append(strings.Fields(command), "--help")...)
		for _, word := range strings.FieldsFunc(help, func(r rune) bool { return strings.ContainsRune(" \n,=[](;:.", r) }) {
			name, ok := strings.CutPrefix(word, "--")
			if !ok || name == "" {
				continue
			}
			for shell, text := range texts {
				flag := word
				if shell == "fish" {
					flag = "-l " + name
				}
				if !strings.Contains(text, flag) {
					t.Errorf("%s: hocket %s has %s, which is missing", shell, command, word)
				}
			}
		}
		for shell, text := range texts {
			if want := map[string]string{"manual": ".SS hocket " + command}[shell]; !strings.Contains(text, want) {
				t.Errorf("%s: there is no hocket %s", shell, command)
			}
		}
		commands++
	}
	if commands == 0 {
		t.Error("no command was tried")
	}
}

// TestManual checks that groff formats the page without warnings.
func TestManual(t *testing.T) {
	page := filepath.Join(t.TempDir(), "hocket.1")
	if err := os.WriteFile(page, []byte(output(t, "", "man")), 0o600); err != nil {
		t.Fatal(err)
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		if out, err := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", page).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff says %s, %v", out, err)
		}
	}
	man, err := exec.LookPath("man")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), man, "-l", page)
	cmd.Env = append(os.Environ(), "MANWIDTH=100", "MANPAGER=cat", "MAN_KEEP_FORMATTING=", "GROFF_NO_SGR=1", "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(out)), " ") // lines are broken and justified
	for _, want := range []string{"hocket - Spoken conversations", "hocket serve Serve the panel", "--agent PATH An agent", "The variable $HOCKET_STORE stands for it.", "hocket conversations show <id>", "EXIT STATUS", `"${fpath[1]}/_hocket"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page shows no %q", want)
		}
	}
	if t.Failed() {
		_, _ = t.Output().Write(out)
	}
}

// TestCompletedValues checks that the completed values are those that the commands
// accept.
func TestCompletedValues(t *testing.T) {
	flag, _ := reflect.TypeFor[machineCmd]().FieldByName("View")
	format, _ := reflect.TypeFor[machineCmd]().FieldByName("Format")
	var views []string
	for _, v := range view.Names() {
		views = append(views, string(v))
	}
	if got := strings.Split(flag.Tag.Get("complete"), ","); !slices.Equal(got, views) {
		t.Errorf("views are completed by %q, there are %q", got, views)
	}
	if got := strings.Split(format.Tag.Get("complete"), ","); !slices.Equal(got, machineFormats) {
		t.Errorf("formats are completed by %q, there are %q", got, machineFormats)
	}
}
