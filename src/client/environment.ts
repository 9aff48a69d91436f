/** An environment variable, where the runtime has them; an empty one counts as absent. */
export function environment(name: string): string | undefined {
  return globalThis.process?.env?.[name] || undefined;
}
