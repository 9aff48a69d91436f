import { beforeAll, expect, test } from '@jest/globals';
import { Api } from '../support/api.js';
import { ask, built, deploy, saying } from '../support/deployments-over-http.js';
import { evaluationRequest, graphRequest, sessionRequest } from '../platform/http/support.js';
import { serviceOfFile } from '../support/service-of-file.js';

// RATCHET_ALLOW_LOCAL_PROVIDER=0: an API that does not offer the provider `local`.

const local = { provider: 'local', model: 'local' };
const on = serviceOfFile();
let url: string;
let api: Api;
let post: (path: string, body: object) => Promise<[status: number, body: string]>;

beforeAll(async () => {
  const { apiKey } = on.service;
  const other = await on.service.another({ serve: true, work: false }, { allowLocalProvider: false });
  url = other.url!;
  api = new Api(url, apiKey);
  post = async (path, body) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return [answer.status, await answer.text()];
  };
}, 60_000);

test('it is listed as not usable, with the setting', async () => {
  const { providers } = await api.call<{ providers: { name: string; usable: boolean; reason: string }[] }>(
    'GET',
    '/api/v1/providers',
  );
  const [found] = providers.filter(({ name }) => name === 'local');
  expect([found!.usable, found!.reason]).toEqual([false, expect.stringContaining('RATCHET_ALLOW_LOCAL_PROVIDER')]);
});

const seeds = { generations: 1, population_size: 1, evaluation: { seeds: [0] } };
test.each([
  ['a session', '/api/v1/online/sessions', { policy_optimization: { ...sessionRequest, policy: local } }],
  [
    'a proposer',
    '/api/v1/online/sessions',
    { policy_optimization: { ...sessionRequest, gepa: { ...sessionRequest.gepa, ...seeds }, proposer: local } },
  ],
  ['an evaluation', '/api/v1/offline/jobs', { ...evaluationRequest, policy: local }],
  ['a graph job', '/api/graphgen/jobs', { ...graphRequest, policy_model: 'local', policy_provider: 'local' }],
  ['a deployment', '/api/harbor/deployments', { name: 'off', source: saying('Be brief.', local) }],
])('%s that names it is refused', async (_what, path, body) => {
  const [status, text] = await post(path, body);
  expect([status, text]).toEqual([422, expect.stringContaining('RATCHET_ALLOW_LOCAL_PROVIDER')]);
});

test('a call of an existing deployment is 502', async () => {
  const id = await deploy(on.service, { name: 'on', source: saying('Be brief.', local) });
  expect((await built(on.service, id)).status).toBe('ready');
  const question = { messages: [{ role: 'user', content: 'Hello' }] };
  expect((await ask(on.service, 'on', question)).status).toBe(200);
  const answer = await ask({ url, apiKey: on.service.apiKey }, 'on', question);
  expect([answer.status, await answer.json()]).toEqual([
    502,
    { error: expect.objectContaining({ code: 'provider_not_usable' }) as unknown },
  ]);
});
