/** Milliseconds of the machine's monotonic clock, comparable between processes. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
