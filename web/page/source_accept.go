package page

// AcceptRequest is the question whether a refused request is to be taken.
type AcceptRequest struct {
	Source SourceHead
	// Path is the request's.
	Path string
	// Heading tells that the question is a page of its own.
	Heading bool
	// Doubt is why it is taken for a reason only; "" where the present secrets
	// prove it, and it is no replay.
	Doubt string
	// Chosen is the reason that was entered before.
	Chosen string
	Errors Errors
}
