import { until } from '../../../../support/until.js';
import type { Recorder } from '../recorder.js';
import { heldModel, policy, rows } from './world.js';

/** A migration that is deployed, and one that is cancelled. */
export async function playMigrations(api: Recorder): Promise<void> {
  const name = 'capitals-moved';
  const messages = [{ role: 'system', content: 'Answer with the name of the city alone.' }];
  const { id } = await api.peek<{ id: string }>('createDeployment', { body: { name, source: { messages, policy } } });
  await until('it is live', async () => {
    const { live } = await api.peek<{ live: boolean }>('getDeployment', { path: { deployment_id: id } });
    return live;
  });
  const path = { deployment_id: name };
  const asked = { dataset: { rows }, scorer: 'contains', max_loss: 0.5, optimize: 'never' };
  const body = { to: { ...policy, temperature: 0 }, ...asked, deploy: { reason: 'Equal answers.' } };
  const { job_id } = await api.call<{ job_id: string }>('createMigration', { path, body });
  await ended(api, job_id);
  for (const operation of ['getMigration', 'listMigrations']) await api.call(operation, { path: { job_id } });
  await api.call('listMigrationEvents', { path: { job_id }, accept: 'application/json' });
  await api.call('listMigrationEvents', { path: { job_id } });
  await api.call('deleteMigration', { path: { job_id } });

  const to = { ...policy, model: heldModel };
  const held = { path, body: { to, ...asked } };
  const { job_id: other } = await api.peek<{ job_id: string }>('createMigration', held);
  const reason = 'The new model is too slow.';
  await api.call('cancelMigration', { path: { job_id: other }, body: { reason }, status: 202 });
  await ended(api, other);
  await api.call('cancelMigration', { path: { job_id: other } });
}

async function ended(api: Recorder, jobId: string): Promise<void> {
  await until('the migration has ended', async () => {
    const { status } = await api.peek<{ status: string }>('getMigration', { path: { job_id: jobId } });
    return status === 'completed' || status === 'cancelled';
  });
}
