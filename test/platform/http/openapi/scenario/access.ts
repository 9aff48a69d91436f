import type { Recorder } from '../recorder.js';

/** A second organization, its keys and limits, from its creation to its deletion. */
export async function playAccess(api: Recorder): Promise<void> {
  const name = 'Search team';
  const { org_id } = await api.call<{ org_id: string }>('createOrganization', { body: { name } });
  await api.call('listOrganizations');
  const query = { org_id };
  const { key_id } = await api.call<{ key_id: string }>('createApiKey', {
    query,
    body: { name: 'production', scopes: ['read', 'write', 'infer'] },
  });
  const path = { key_id };
  await api.call('listApiKeys', { query });
  await api.call('setOrganizationLimits', { query, body: { requests_per_minute: 6_000, spend_usd_per_day: 50 } });
  await api.call('getOrganizationLimits', { query });
  await api.call('setApiKeyLimits', { path, query, body: { calls_in_flight: 20, open_jobs: 5 } });
  await api.call('getApiKeyLimits', { path, query });
  const { key_id: rotated } = await api.call<{ key_id: string }>('rotateApiKey', {
    path,
    query,
    body: { grace_seconds: 3_600 },
  });
  await api.call('revokeApiKey', { path: { key_id: rotated }, query });
  const provider = { provider: 'openai' };
  await api.call('setProviderKey', { path: provider, query, body: { api_key: 'your-key-of-openai' } });
  await api.call('listProviderKeys', { query });
  await api.call('deleteProviderKey', { path: provider, query });
  await api.call('listAuditEntries', { query: { limit: '2' } });
  await api.call('deleteOrganization', { path: { org_id }, query: { name } });
}
