import type { Status } from './status.js';

/** As the API says it. */
interface LastCommand {
  command: 'pause' | 'resume' | 'cancel';
  by: { key_name: string } | null;
}

const commands: Partial<Record<Status, LastCommand['command']>> = { paused: 'pause', cancelled: 'cancel' };

/** Words for the key of the setting or of the first start; null: another key. */
export const firstKeyWords = (name: string): string | null => (name === 'bootstrap' ? "the service's first key" : null);

/** A status with who brought it: `paused by key nightly`. */
export function statusWords(status: Status, last: LastCommand | null): string {
  if (last === null || commands[status] !== last.command) return status;
  if (last.by) return `${status} by ${firstKeyWords(last.by.key_name) ?? `key ${last.by.key_name}`}`;
  return last.command === 'pause' ? `${status} in Temporal` : status;
}
