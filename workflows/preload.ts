/** Loaded once for all workflows of a thread: pure modules, and settings of the thread. */
import '../src/core/events/jobs.js';
import '../src/core/jobs/failures.js';
import '../src/core/jobs/kinds.js';

// The SDK takes a stack trace of every promise: with 10 frames a sixth of a workflow task's time.
// It may go when the SDK can be told not to.
Error.stackTraceLimit = 3;
