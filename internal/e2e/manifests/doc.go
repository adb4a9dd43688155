// Package manifests tests the files that operators deploy with, as far as they can
// be judged without a container engine or a cluster: the composition, the chart, the
// unit. What they start is tested in internal/e2e.
package manifests
