package rotate

import "time"

// Interrupted calls at before each step, and ends the rotation with its error.
func Interrupted(o Options, at func(step string) error) Options {
	o.interrupt = at
	return o
}

// Impatient waits so long for nodes.
func Impatient(o Options, d time.Duration) Options {
	o.patience = d
	return o
}

// ForgetAfter is how long a key stays that seals nothing.
const ForgetAfter = forgetAfter
