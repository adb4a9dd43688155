package signature

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSignatureHeader(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		values []string
		want   string
		code   string
	}{
		"one":           {[]string{"a"}, "a", ""},
		"not ascii":     {[]string{"\xffé"}, "\xffé", ""},
		"absent":        {nil, "", CodeMissing},
		"empty":         {[]string{""}, "", CodeMissing},
		"twice":         {[]string{"a", "a"}, "", CodeMalformed},
		"empty, then a": {[]string{"", "a"}, "", CodeMalformed},
		"twice empty":   {[]string{"", ""}, "", CodeMalformed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := signatureHeader(http.Header{"X-Sig": c.values}, "x-sig")
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.code == "" && err != nil {
				t.Error(err)
			}
			if c.code != "" && !strings.Contains(wantRefusal(t, err, c.code).Detail, "x-sig") {
				t.Errorf("the refusal does not name the header: %v", err)
			}
		})
	}
}

func TestSplitLabelled(t *testing.T) {
	t.Parallel()
	cases := map[string][]labelled{
		"":              {{"", ""}},
		"a=1":           {{"a", "1"}},
		"a=1,b=2,a=3":   {{"a", "1"}, {"b", "2"}, {"a", "3"}},
		"a=b=c":         {{"a", "b=c"}},
		"a,b=":          {{"", "a"}, {"b", ""}},
		"=1":            {{"", "1"}},
		"a=1,":          {{"a", "1"}, {"", ""}},
		"a=1, b=2":      {{"a", "1"}, {" b", "2"}},
		"\xff=é,\x00=,": {{"\xff", "é"}, {"\x00", ""}, {"", ""}},
	}
	for header, want := range cases {
		got, err := splitLabelled("X-Sig", header, ",", "=")
		if err != nil {
			t.Errorf("%q: %v", header, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(labelled{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", header, diff)
		}
	}
}

// TestLabelledLimit: the work that a header can ask for has an end.
func TestLabelledLimit(t *testing.T) {
	t.Parallel()
	for count, ok := range map[int]bool{1: true, maxLabelled: true, maxLabelled + 1: false, 100_000: false} {
		list, err := splitLabelled("X-Sig", strings.TrimSuffix(strings.Repeat("a=1,", count), ","), ",", "=")
		switch {
		case ok && (err != nil || len(list) != count):
			t.Errorf("%d values: %d, %v", count, len(list), err)
		case !ok:
			_ = wantRefusal(t, err, CodeMalformed)
		}
	}
}

func TestSentSignatures(t *testing.T) {
	t.Parallel()
	known := map[string]version{"v1": {2, decodeHex}, "v2": {3, decodeHex}}
	cases := map[string]struct {
		list []labelled
		want map[string][][]byte
		code string
	}{
		"one":                 {[]labelled{{"v1", "0a0b"}}, map[string][][]byte{"v1": {{10, 11}}}, ""},
		"two of one version":  {[]labelled{{"v1", "0a0b"}, {"v1", "0c0d"}}, map[string][][]byte{"v1": {{10, 11}, {12, 13}}}, ""},
		"two versions":        {[]labelled{{"v1", "0a0b"}, {"v2", "0c0d0e"}}, map[string][][]byte{"v1": {{10, 11}}, "v2": {{12, 13, 14}}}, ""},
		"others beside":       {[]labelled{{"v0", "zz"}, {"", "junk"}, {"v1", "0a0b"}, {"v1", "zz"}}, map[string][][]byte{"v1": {{10, 11}}}, ""},
		"length of another":   {[]labelled{{"v1", "0c0d0e"}}, nil, CodeMalformed},
		"unreadable":          {[]labelled{{"v1", "zzzz"}}, nil, CodeMalformed},
		"without label":       {[]labelled{{"", "0a0b"}}, nil, CodeMalformed},
		"unreadable, unknown": {[]labelled{{"v0", "0a0b"}, {"v1", "zz"}}, nil, CodeMalformed},
		"unknown":             {[]labelled{{"v0", "0a0b"}}, nil, CodeMismatch},
		"nothing":             {nil, nil, CodeMismatch},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := sentSignatures("X-Sig", c.list, known)
			if c.code != "" {
				_ = wantRefusal(t, err, c.code)
			} else if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("signatures (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIdentityHeader(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-One": {"\xff"}, "X-Two": {"a", "a"}, "X-Empty": {""}, "X-None": {}}
	for name, want := range map[string]string{"x-one": "\xff", "X-TWO": "", "X-Empty": "", "X-None": "", "X-Absent": ""} {
		if got := identityHeader(header, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
