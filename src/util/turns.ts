/**
 * Long work in turns: `await turns()` between two parts of it, often. Other work of the event loop
 * goes first after each 10 ms.
 */
const turnMs = 10;

export function createTurns(): () => Promise<void> | void {
  let from = performance.now();
  return () => {
    if (performance.now() - from < turnMs) return;
    return new Promise((resolve) =>
      setImmediate(() => {
        from = performance.now();
        resolve();
      }),
    );
  };
}
