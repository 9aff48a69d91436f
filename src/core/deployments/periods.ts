/** The periods that statistics of a deployment are kept for. */

export const periods = ['hour', 'minute'] as const;
export type Period = (typeof periods)[number];
/** `all`: since the deployment was built; `shadow`: that too, of answers that no caller saw. */
export type Width = 'all' | 'shadow' | Period;

/** Those of a caller's request. */
export const widths: readonly (Period | 'all')[] = ['all', ...periods];
export const isPeriod = (width: Width): width is Period => width === 'hour' || width === 'minute';
export const periodMs: Record<Period, number> = { hour: 3_600_000, minute: 60_000 };
/** How long statistics of a period are kept: minutes for a day, hours for a year. */
export const keptMs: Record<Period, number> = { hour: 366 * 86_400_000, minute: 86_400_000 };

/** The beginning of the period that holds a time, as ISO 8601; without a period the epoch. */
export function startOf(width: Width, atMs: number): string {
  const start = isPeriod(width) ? Math.floor(atMs / periodMs[width]) * periodMs[width] : 0;
  return new Date(start).toISOString();
}
