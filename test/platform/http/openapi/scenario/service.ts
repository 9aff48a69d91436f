import { until } from '../../../../support/until.js';
import type { Recorder } from '../recorder.js';

/** What the service says of itself. */
export async function playService(api: Recorder): Promise<void> {
  await until('the service is ready', () => api.call('getReadiness'));
  await api.call('getService', { accept: 'application/json' });
  for (const operation of ['getLiveness', 'listProviders', 'getWebhookSecret']) await api.call(operation);
  await api.call('checkModel', { body: { provider: 'local', model: 'local' } });
  await api.call('rotateWebhookSecret', { body: { grace_seconds: 3_600 } });
}
