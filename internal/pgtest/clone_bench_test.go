package pgtest

import "testing"

// BenchmarkClone measures what each test pays for its database: the clone
// and the drop.
func BenchmarkClone(b *testing.B) {
	admin := Server(b)
	template, err := shared.templateName()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d, err := clone(b.Context(), admin, template)
		if err != nil {
			b.Fatal(err)
		}
		if err := d.drop(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
