/** Keeps a value for a reload of this tab; one that is too large for the browser is not kept. */
export function remember(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    sessionStorage.removeItem(name);
  }
}
