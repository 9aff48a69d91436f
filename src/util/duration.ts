const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a time such as 30m. */
export const durationMs = (text: string): number =>
  Number(text.slice(0, -1)) * unitMs[text.at(-1) as keyof typeof unitMs];
