/** Completes at once, and so shows that a worker polls its task queue. */
export function probeWorkflow(): Promise<void> {
  return Promise.resolve();
}
