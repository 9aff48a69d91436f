/** `count` consecutive integers, for seeds. */
export function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}
