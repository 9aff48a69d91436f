import type { Status } from './status.js';

interface Key {
  key_id: string;
  key_name: string;
}

/** As the API says it. */
interface LastCommand {
  command: 'pause' | 'resume' | 'cancel';
  by: Key | null;
}

const commands: Partial<Record<Status, LastCommand['command']>> = { paused: 'pause', cancelled: 'cancel' };

/** What to call the key that RATCHET_API_KEY or the first start made; null: another key. */
export const firstKeyWords = ({ key_id: id }: Pick<Key, 'key_id'>): string | null =>
  id.startsWith('bootstrap_') ? "the service's first key" : null;

/** A status with who brought it: `paused by key nightly`. */
export function statusWords(status: Status, last: LastCommand | null): string {
  if (last === null || commands[status] !== last.command) return status;
  if (last.by) return `${status} by ${firstKeyWords(last.by) ?? `key ${last.by.key_name}`}`;
  return last.command === 'pause' ? `${status} in Temporal` : status;
}
