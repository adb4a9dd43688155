package account

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

const (
	// stepSeconds is how long a code is shown, as every program that makes codes
	// takes it to be.
	stepSeconds = 30
	// stepSkew is how many steps before and after the present one are taken, too:
	// clocks differ, and people type slowly.
	stepSkew = 1
	// issuer is under which name programs keep the key.
	issuer = "Rowlock"
)

// codeForm is that of codes: what every program that makes them can do.
var codeForm = hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

// newStepKey makes a key that codes are made of, with the address that brings it
// into a program.
func newStepKey(baseURL, email string) (*otp.Key, error) {
	name := issuer
	if base, err := url.Parse(baseURL); err == nil && base.Hostname() != "" {
		name += " (" + base.Hostname() + ")"
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: strings.ReplaceAll(name, ":", "-"), AccountName: email, Period: stepSeconds})
	if err != nil {
		return nil, fmt.Errorf("make a key of codes: %w", err)
	}
	return key, nil
}

// isStepCode tells that a text has the form of a code that changes, and not that
// of a recovery code.
func isStepCode(text string) bool {
	return len(text) == codeForm.Digits.Length() && strings.Trim(text, "0123456789") == ""
}

// stepOf finds the step of time that a code belongs to, around now. It tells
// whether there is one.
func stepOf(key, code string, now time.Time) (step int64, ok bool, err error) {
	if !isStepCode(code) {
		return 0, false, nil
	}
	present := now.Unix() / stepSeconds
	for step := present - stepSkew; step <= present+stepSkew; step++ {
		match, err := hotp.ValidateCustom(code, uint64(max(step, 0)), key, codeForm)
		if err != nil {
			return 0, false, fmt.Errorf("check a code: %w", err)
		}
		if match {
			return step, true, nil
		}
	}
	return 0, false, nil
}

// typedCode is a code as it was typed, without the space that programs show
// within it.
func typedCode(text string) string { return strings.Join(strings.Fields(text), "") }
