// No code: a target that depends on all programs, for `swift build` takes one product at a time.
