/** The sum of two numbers; null where one is unknown. */
export function plus(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left + right;
}

/** The sum of the values; null where one is unknown, 0 without any. */
export function sumOf<T>(items: readonly T[], value: (item: T) => number | null): number | null {
  return items.reduce<number | null>((sum, item) => plus(sum, value(item)), 0);
}
