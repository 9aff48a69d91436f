/** What the jobs of all kinds have in common. */
import { isTerminal, type Status } from '../../../../../src/core/jobs/status.js';
import { unzip } from '../../../../support/unzip.js';
import { until } from '../../../../support/until.js';
import type { Recorder } from '../recorder.js';

/** More frequent reads would slow down the awaited job. */
const pollMs = 200;

/** Creates a job; returns its id. */
export async function created(api: Recorder, operation: string, body: object, path = {}): Promise<string> {
  return (await api.call<{ job_id: string }>(operation, { path, body })).job_id;
}

/** Asks for the estimate of a create or a clone. */
export async function estimated(api: Recorder, operation: string, body: object, path = {}): Promise<void> {
  await api.call(operation, { path, query: { dry_run: 'true' }, body });
}

/** Waits until a job has ended, and records it then. */
export async function ended(api: Recorder, operation: string, path: Record<string, string>): Promise<void> {
  const hasEnded = async () => isTerminal((await api.peek<{ status: Status }>(operation, { path })).status);
  await until(`${Object.values(path).join()} has ended`, hasEnded, 60, pollMs);
  await api.call(operation, { path });
}

/** Waits until a job, whose model answers nothing yet, has a rollout in flight. */
export async function running(api: Recorder, operation: string, path: Record<string, string>): Promise<void> {
  await until(`${Object.values(path).join()} has a rollout in flight`, async () => {
    const { concurrency } = await api.peek<{ concurrency: { in_flight: number } }>(operation, { path });
    return concurrency.in_flight > 0;
  });
}

/** Downloads the traces of a job; returns the id of the first. */
export async function traceIn(api: Recorder, operation: string, path: Record<string, string>): Promise<string> {
  const [file] = await unzip(await api.call<Buffer>(operation, { path }));
  return file!.name.replace(/\.json$/, '');
}

/** The commands to a paused job that no worker answers. */
export const pending = (api: Recorder, kind: string, path: Record<string, string>) => [
  api.call(`pause${kind}`, { path, body: {} }),
  api.call(`resume${kind}`, { path, body: {} }),
  api.call(`update${kind}`, { path, body: { state: 'running' } }),
  api.call(`report${kind}Reward`, { path, body: { stop: true } }),
  api.call(`cancel${kind}`, { path, body: {} }),
];
