package account_test

import (
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/rowlock/rowlock/internal/account"
)

// The vectors of RFC 6238, whose codes are cut to six digits, and the steps around
// them.
func TestStepOf(t *testing.T) {
	t.Parallel()
	const key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" // 12345678901234567890
	for code, at := range map[string]int64{
		"287082": 59, "081804": 1111111109, "050471": 1111111111, "005924": 1234567890, "279037": 2000000000, "353130": 20000000000,
	} {
		for offset, want := range map[int64]bool{-60: false, -30: true, 0: true, 30: true, 60: false} {
			if at+offset < 0 {
				continue
			}
			step, ok, err := account.StepOf(key, code, time.Unix(at+offset, 0))
			if err != nil || ok != want || ok && step != at/30 {
				t.Errorf("%s at %+d s: step %d, %t, %v", code, offset, step, ok, err)
			}
		}
	}
}

// What is no code is none, and no fault.
func TestStepOfWhatIsNoCode(t *testing.T) {
	t.Parallel()
	now := time.Unix(1111111109, 0)
	right, err := totp.GenerateCode("GEZDGNBVGY3TQOJQ", now)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"", "1", right + "0", right[:5], "+" + right[1:], "0x1234", "１２３４５６"} {
		if _, ok, err := account.StepOf("GEZDGNBVGY3TQOJQ", code, now); ok || err != nil {
			t.Errorf("%q: %t, %v", code, ok, err)
		}
	}
	if _, _, err := account.StepOf("not base32!", right, now); err == nil {
		t.Error("a key that is none is no fault")
	}
}
