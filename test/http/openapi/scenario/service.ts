import { until } from '../../../support/until.js';
import type { Recorder } from '../recorder.js';

/** What the service says of itself. */
export async function playService(api: Recorder): Promise<void> {
  await until('the service is ready', () => api.call('getReadiness'));
  for (const operation of ['getService', 'getLiveness', 'listProviders', 'getWebhookSecret']) await api.call(operation);
}
