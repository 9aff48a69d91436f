/** Stands for all values above a limit. */
export const other = 'other';
const maxLength = 100;

/** Passes the first `limit` values of a label; those that follow become `other`. */
export function limitedValues(limit: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    const cut = value.slice(0, maxLength);
    if (known.has(cut)) return cut;
    if (known.size >= limit) return other;
    known.add(cut);
    return cut;
  };
}

/** Whether a pair is among the first `limit` of different ones. */
export function limitedPairs(limit: number): (left: string, right: string) => boolean {
  const known = new Set<string>();
  return (left, right) => {
    const pair = JSON.stringify([left, right]);
    if (!known.has(pair) && known.size < limit) known.add(pair);
    return known.has(pair);
  };
}
