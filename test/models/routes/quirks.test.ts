import { describe, expect, test } from '@jest/globals';
import { until } from '../../support/until.js';
import type { ModelRequest } from '../../support/fakes/model.js';
import { deploymentsOfFile, question as asked } from '../../kinds/deployment/routes/support.js';
import { policy, proxyOfFile, question } from './support.js';

const proxy = proxyOfFile({});
const on = deploymentsOfFile();

/** A model that takes one temperature, a limit by its new name, and no developer messages. */
const strict = ({ body }: ModelRequest) => {
  const bad = ['temperature', 'max_tokens'].find((name) => name in body);
  const raw = (message: string) => ({ status: 400, raw: JSON.stringify({ error: { message, code: null } }) });
  if (bad) return raw(`Unsupported parameter: '${bad}' is not supported with this model.`);
  return body.messages.some(({ role }) => role === 'developer')
    ? raw("developer is not one of ['system', 'assistant', 'user', 'tool', 'function']")
    : {};
};

describe('the proxy', () => {
  test("leaves out the policy's parameters that a model refuses, and warns of it", async () => {
    const job = await proxy.newSession({ spec: { policy: { ...policy, model: 'strict' } } });
    proxy.model.reply(strict);
    const own = { messages: question.messages, max_tokens: 16 };
    for (const path of ['/a', '/b', '/c']) {
      const answer = await proxy.post(job, path, own);
      expect([answer.status, answer.headers.get('x-ratchet-left-out')]).toEqual([200, 'temperature']);
    }
    // Two refusals of the first call, and none later.
    expect(proxy.model.requests).toHaveLength(5);
    expect(proxy.model.requests.at(-1)!.body).toMatchObject({ max_completion_tokens: 16 });
    const calls = await proxy.calls(job);
    expect(calls.map(({ http_status: status }) => status)).toEqual([200, 200, 200]);
    const warnings = () =>
      proxy.http.db.org('default', (tx) =>
        tx.query<{ warnings: string[] }>('select warnings from jobs where id = $1', [job.jobId], 'read_warnings'),
      );
    await until('warned', async () => (await warnings())[0]!.warnings.length > 0);
    expect((await warnings())[0]!.warnings).toEqual([expect.stringContaining('temperature')]);
  });

  test("keeps a caller's own, so that the refusal is the caller's", async () => {
    const job = await proxy.newSession({ spec: { policy: { ...policy, model: 'strict-2' } } });
    proxy.model.reply(strict);
    const answer = await proxy.post(job, '/a', { messages: question.messages, temperature: 0 });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { message: expect.any(String) as unknown } },
    ]);
    expect(proxy.model.requests).toHaveLength(1);
  });
});

describe('a deployment', () => {
  test('answers as its search did: without what the model refuses, and with roles that it takes', async () => {
    await on.deploy('strict');
    on.model.reply(strict);
    const developer = [{ role: 'developer', content: 'Be short.' }, ...asked.messages];
    const body = { messages: developer, stream: true, max_completion_tokens: 16 };
    const answer = await on.ask('strict', body);
    expect([answer.status, answer.headers.get('x-ratchet-left-out')]).toEqual([200, 'temperature']);
    expect(await answer.text()).toContain('[DONE]');
    const roles = on.model.requests.at(-1)!.body.messages.map(({ role }) => role);
    expect(roles).not.toContain('developer');
    expect((await on.ask('strict', { ...asked, temperature: 1 })).status).toBe(400);
  });
});
