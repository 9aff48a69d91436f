const other = 'other';
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
