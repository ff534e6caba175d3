// Package sgd measures the dialogue engine with third-party conversations, the
// Schema-Guided Dialogue dataset. It contains only tests. They read files that are not
// in the repository, which tests of deterministic packages must not need, and are
// skipped without them.
package sgd
