import type { Recorder } from '../recorder.js';

/** Lists runs of all kinds by gain, and tags one with a command for many. */
export async function playRuns(api: Recorder, session: string): Promise<void> {
  await api.call('listRuns', { query: { sort: '-gain', group_by: 'dataset', limit: '2' } });
  const body = { action: 'tag', tag: 'nightly', job_ids: [session] };
  await api.call('commandRuns', { body: { ...body, dry_run: true } });
  await api.call('commandRuns', { body });
}
