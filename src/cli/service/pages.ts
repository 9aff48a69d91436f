/** Pages of the dashboard. */
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import type { CommandClient } from './client.js';
import { note } from './output.js';

/** Names a job that a command has started, for Ctrl-C too, and the page that shows it. */
export function noteJob(client: CommandClient, id: string): void {
  const { noun, page } = jobKinds[kindOf(id)!];
  client.started.push(id);
  note(`${noun[0]!.toUpperCase()}${noun.slice(1)} ${id}: ${client.url}/#/${page}/${id}`);
}
