import { until } from '../../../../support/until.js';
import type { Recorder } from '../recorder.js';
import { heldModel, policy, rows } from './world.js';

const name = 'capitals-checked';

/** A checkup, an improvement that is approved, and a checkup that is cancelled. */
export async function playCheckups(api: Recorder): Promise<void> {
  await live(api, name, policy);
  const path = { deployment_id: name };
  const checked = { rows: { dataset: { rows }, scorer: 'contains' }, traffic: null };
  const body = { ...checked, max_change: 0.1, notes: 'Before the holidays.' };
  const { job_id } = await api.call<{ job_id: string }>('createCheckup', { path, body });
  await ended(api, job_id);
  for (const operation of ['getCheckup', 'listCheckups']) await api.call(operation, { path: { job_id } });
  await api.call('listCheckupEvents', { path: { job_id }, accept: 'application/json' });
  await api.call('listCheckupEvents', { path: { job_id } });

  await corrected(api);
  const deploy = { reason: 'Shorter answers.', require_approval: true };
  const improve = { scorer: 'contains', budget: { max_rollouts: 100 }, deploy };
  const improved = await api.call<{ job_id: string }>('improveDeployment', { path, body: improve });
  await ended(api, improved.job_id);
  const decision = { approve: true, reason: 'Read ten answers.' };
  await api.call('decideCheckup', { path: { job_id: improved.job_id }, body: decision });
  await api.call('deleteCheckup', { path: { job_id } });

  await live(api, `${name}-slowly`, { ...policy, model: heldModel });
  const held = { path: { deployment_id: `${name}-slowly` }, body: checked };
  const { job_id: other } = await api.peek<{ job_id: string }>('createCheckup', held);
  await api.call('cancelCheckup', { path: { job_id: other }, body: { reason: 'The model is too slow.' }, status: 202 });
  await ended(api, other);
  await api.call('cancelCheckup', { path: { job_id: other } });
}

/** Deploys a prompt that half of the rows need to be better. */
async function live(api: Recorder, deployed: string, model: object): Promise<void> {
  const source = { messages: [{ role: 'system', content: 'Answer the question.' }], policy: model };
  const { id } = await api.peek<{ id: string }>('createDeployment', { body: { name: deployed, source, log: {} } });
  await until('it is live', async () => {
    const { live: isLive } = await api.peek<{ live: boolean }>('getDeployment', { path: { deployment_id: id } });
    return isLive;
  });
}

/** Asks for each capital in three ways, and reports the right answers. */
async function corrected(api: Recorder): Promise<void> {
  const path = { deployment_id: name };
  const asked = rows.flatMap(({ input, expected }) =>
    ['', ' In one word.', ' Please.'].map((more) => ({ content: `${input}${more}`, expected })),
  );
  for (const { content, expected } of asked) {
    const messages = [{ role: 'user', content }];
    const { id: answer_id } = await api.peek<{ id: string }>('callDeployment', { path, body: { messages } });
    await api.peek('reportFeedback', { path, body: { answer_id, corrected: expected } });
  }
  await until('all are kept', async () => {
    const query = { feedback: 'corrected', limit: '100' };
    const { data } = await api.peek<{ data: unknown[] }>('searchDeploymentRequests', { path, query });
    return data.length === asked.length;
  });
}

async function ended(api: Recorder, jobId: string): Promise<void> {
  await until('the checkup has ended', async () => {
    const { status } = await api.peek<{ status: string }>('getCheckup', { path: { job_id: jobId } });
    return status === 'completed' || status === 'cancelled';
  });
}
