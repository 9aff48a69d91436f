/** The periods that statistics of a deployment are kept for. */

export const periods = ['hour', 'minute'] as const;
export type Period = (typeof periods)[number];
/** `all`: since the deployment went live. */
export type Width = 'all' | Period;

export const widths: readonly Width[] = ['all', ...periods];
export const periodMs: Record<Period, number> = { hour: 3_600_000, minute: 60_000 };
/** How long statistics of a period are kept: minutes for a day, hours for a year. */
export const keptMs: Record<Period, number> = { hour: 366 * 86_400_000, minute: 86_400_000 };

/** The beginning of the period that holds a time, as ISO 8601; of `all` the epoch. */
export function startOf(width: Width, atMs: number): string {
  const start = width === 'all' ? 0 : Math.floor(atMs / periodMs[width]) * periodMs[width];
  return new Date(start).toISOString();
}
