package config

import (
	"errors"
	"slices"
)

// Signup says who may sign up.
type Signup string

// Who may sign up.
const (
	SignupOpen   Signup = "open"   // anybody
	SignupInvite Signup = "invite" // who holds an invitation
	SignupClosed Signup = "closed" // nobody
)

// UnmarshalText accepts open, invite and closed.
func (s *Signup) UnmarshalText(text []byte) error {
	return choose(s, text, SignupOpen, SignupInvite, SignupClosed)
}

// LogFormat is the form of log lines.
type LogFormat string

// The forms of log lines.
const (
	LogText LogFormat = "text" // key=value, for people
	LogJSON LogFormat = "json" // one object a line, for machines
)

// UnmarshalText accepts text and json.
func (f *LogFormat) UnmarshalText(text []byte) error {
	return choose(f, text, LogText, LogJSON)
}

// choose sets target to text when that is one of the choices.
func choose[T ~string](target *T, text []byte, choices ...T) error {
	value := T(text)
	if !slices.Contains(choices, value) {
		return errors.New("none of the choices")
	}
	*target = value
	return nil
}
