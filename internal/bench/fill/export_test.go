package fill

// WithoutIndexes is what large histories are filled in.
var WithoutIndexes = withoutIndexes
