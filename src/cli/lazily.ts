/** Loads what a command needs when it runs, so that every command starts soon. */
export function lazily<Args extends unknown[]>(
  load: () => Promise<(...args: Args) => unknown>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const run = await load();
    await run(...args);
  };
}
