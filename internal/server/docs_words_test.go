package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
)

// Lists of words stand in the document as often as they are spoken of: each is
// the domain's, so that a new word is not forgotten in one of them.
func TestDocumentedWordsAreTheDomains(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	document := b.document(t)
	attempted := asTexts(gateway.ErrorKinds)
	failed := append(slices.Clone(attempted), string(gateway.ErrorDisabled))
	for name, want := range map[string][]string{
		"Attempt.error_kind":                  attempted,
		"EndpointFailingData.last_error_kind": attempted,
		"Delivery.last_error_kind":            failed,
		"Failure.error_kind":                  failed,
		"FailurePart.error_kind":              failed,
		"OperationFilter.error_kind":          failed,
		"RedeliverManyBody.error_kind":        failed,
		"DismissBody.error_kind":              append(slices.Clone(failed), "unknown"),
		"FailuresBody.error_kind":             append(slices.Clone(failed), "unknown"),
		"Attempt.outcome":                     asTexts(gateway.Outcomes),
		"OperationFilter.outcome":             asTexts(gateway.Outcomes),
		"Delivery.status":                     asTexts(gateway.DeliveryStatuses),
		"Operation.state":                     asTexts(gateway.OperationStates),
		"OperationDoneData.kind":              {"recover_failed", "recover_missing", "redeliver", "reprocess"},
		"ProcessManyBody.status":              asTexts(gateway.ReprocessableStatuses),
		"TrySourceBody.fault":                 asTexts(accept.Faults),
		"TrialSignature.by":                   asTexts(accept.Signers),
	} {
		schema, property, _ := strings.Cut(name, ".")
		listed, _ := field(t, document, schema, property)["enum"].([]any)
		var got []string
		for _, word := range listed {
			got = append(got, word.(string))
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The library passes over what is embedded unless its type is exported.
func TestEmbeddedFieldsAreDocumented(t *testing.T) {
	t.Parallel()
	document := newBundle(t).document(t)
	for schema, properties := range map[string][]string{
		"FailureList": {"data", "next_cursor", "truncated"},
		"Failure":     {"outcome", "error_kind", "status_code", "parts"},
		"DismissBody": {"endpoint", "error_kind", "status_code", "note", "until"},
	} {
		for _, property := range properties {
			field(t, document, schema, property)
		}
	}
}

// asTexts are values of the domain as text.
func asTexts[S ~string](all []S) []string {
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = string(one)
	}
	return words
}
