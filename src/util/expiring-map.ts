/** A map of at most `max` entries that expire; the oldest makes room. Its clock is monotonic. */
export class ExpiringMap<Key, Value> {
  private readonly entries = new Map<Key, { value: Value; until: number }>();
  private readonly max: number;
  private readonly lifetimeMs: number;

  constructor(max: number, lifetimeMs: number) {
    this.max = max;
    this.lifetimeMs = lifetimeMs;
  }

  get(key: Key): Value | undefined {
    const entry = this.entries.get(key);
    if (!entry || entry.until > performance.now()) return entry?.value;
    this.entries.delete(key);
    return undefined;
  }

  /** `since`: start of the lifetime, as of `performance.now()`. */
  set(key: Key, value: Value, since = performance.now()): void {
    this.entries.delete(key);
    this.entries.set(key, { value, until: since + this.lifetimeMs });
    if (this.entries.size > this.max) this.entries.delete(this.entries.keys().next().value!);
  }

  delete(key: Key): void {
    this.entries.delete(key);
  }
}
