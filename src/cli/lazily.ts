/** Loads the module of a command when the command runs, which keeps the start of all short. */
export function lazily<Args extends unknown[]>(
  load: () => Promise<(...args: Args) => unknown>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const run = await load();
    await run(...args);
  };
}
