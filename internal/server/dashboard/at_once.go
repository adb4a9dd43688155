package dashboard

import "golang.org/x/sync/errgroup"

// readsAtOnce bounds how many connections to the database one page takes.
const readsAtOnce = 4

// atOnce reads what a page shows at the same time, and returns when all is there,
// with the first error if there was one. None of the reads may write what another
// reads or writes.
func atOnce(reads ...func() error) error {
	var all errgroup.Group
	all.SetLimit(readsAtOnce)
	for _, read := range reads {
		all.Go(read)
	}
	return all.Wait()
}
