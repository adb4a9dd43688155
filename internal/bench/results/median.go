package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rowlock/rowlock/internal/bench/load"
)

// median is a report of which each figure is the median of that of all reports; what
// is no figure, or is not in all of them, is the first one's.
func median(reports []load.Report) (m load.Report, err error) {
	all := make([]any, len(reports))
	for i, r := range reports {
		text, err := json.Marshal(r)
		if err != nil {
			return m, fmt.Errorf("read a report: %w", err)
		}
		if err := json.Unmarshal(text, &all[i]); err != nil {
			return m, fmt.Errorf("read a report: %w", err)
		}
	}
	text, err := json.Marshal(middle(all))
	if err != nil {
		return m, fmt.Errorf("write the median: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("write the median: %w", err)
	}
	return m, nil
}

// middle goes through values of one shape together.
func middle(all []any) any {
	switch first := all[0].(type) {
	case float64:
		return middleNumber(all, first)
	case map[string]any:
		m := map[string]any{}
		for key := range first {
			m[key] = middle(parts(all, func(v any) (any, bool) {
				of, ok := v.(map[string]any)
				part, there := of[key]
				return part, ok && there
			}))
		}
		return m
	case []any:
		m := make([]any, len(first))
		for i := range first {
			m[i] = middle(parts(all, func(v any) (any, bool) {
				of, ok := v.([]any)
				if !ok {
					return nil, false
				}
				return like(first[i], i, of)
			}))
		}
		return m
	default:
		return first
	}
}

// like is what stands in another list for the i-th of a list: a statement has the
// same text, wherever it stands, and what has no text is the i-th, too.
func like(one any, i int, others []any) (any, bool) {
	text, named := textOf(one)
	if !named {
		return at(others, i)
	}
	return at(others, slices.IndexFunc(others, func(other any) bool {
		its, ok := textOf(other)
		return ok && its == text
	}))
}

func at(all []any, i int) (any, bool) {
	if i < 0 || i >= len(all) {
		return nil, false
	}
	return all[i], true
}

func textOf(v any) (string, bool) {
	of, ok := v.(map[string]any)
	if !ok {
		return "", false
	}
	text, ok := of["text"].(string)
	return text, ok
}

// parts are the values' parts, where all have one; else the first one's.
func parts(all []any, of func(any) (any, bool)) []any {
	var found []any
	for _, v := range all {
		part, ok := of(v)
		if !ok {
			return found[:1]
		}
		found = append(found, part)
	}
	return found
}

func middleNumber(all []any, first float64) float64 {
	numbers := make([]float64, 0, len(all))
	for _, v := range all {
		n, ok := v.(float64)
		if !ok {
			return first
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	if half := len(numbers) / 2; len(numbers)%2 == 0 {
		return (numbers[half-1] + numbers[half]) / 2
	}
	return numbers[len(numbers)/2]
}
