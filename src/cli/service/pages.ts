/** Pages of the dashboard. */
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import type { Api } from './api.js';
import { note } from './output.js';

/** Names a job that a command has started, for Ctrl-C too, and the page that shows it. */
export function noteJob(api: Api, id: string): void {
  const { noun, page } = jobKinds[kindOf(id)!];
  api.started.push(id);
  note(`${noun[0]!.toUpperCase()}${noun.slice(1)} ${id}: ${api.url}/#/${page}/${id}`);
}
