// Package config turns the environment into typed, validated settings that
// can be logged without giving a secret away.
//
// Config is the single list of settings: names, defaults, minimums and
// meanings stand in its struct tags, and Load, Variables and LogValue all
// read them there, so that help and behaviour cannot drift apart.
package config
