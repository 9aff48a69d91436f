import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createKey } from '../../../../src/access/store/keys.js';
import type { Scope } from '../../../../src/access/contract/access.js';
import type { PromptContent } from '../../../../src/kinds/deployment/contract/snapshot.js';
import { setSnapshot } from '../../../../src/kinds/deployment/store/deployments.js';
import { putSnapshot } from '../../../../src/kinds/deployment/store/snapshots.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { runs } from '../../../support/runs.js';
import { secretKey } from '../../../platform/http/support.js';
import { deploymentsOfFile, question, saying } from './support.js';

// Invariants: who sends the body that the prompt describes asks the model what the service asks;
// an ETag changes with the answer, and only then.

const it = deploymentsOfFile();
const promptOf = (ref: string, query = '', headers: Record<string, string> = {}) =>
  it.http.call('GET', `${base}/${ref}/prompt${query}`, undefined, headers);
const provenance = { source: 'messages', job_id: null, candidate_id: null, reward: null, verdict: null } as const;

async function deployContent(name: string, content: Pick<PromptContent, 'messages' | 'demos' | 'policy'>) {
  const id = await it.deploy(name);
  const whole = { ...content, kind: 'messages' as const, levers_marked: false, lever_versions: {}, provenance };
  await it.http.db.org('default', async (tx) => setSnapshot(tx, id, await putSnapshot(tx, 'default', whole)));
}

describe('a prompt', () => {
  let fresh = 0;
  test('is what the service asks the model, for any messages and demonstrations', async () => {
    const text = fc.constantFrom('plain', 'with {{name}} in it', '{{ a name }}', '{"json": {{x}}}');
    const content = fc.record({
      system: fc.option(text, { nil: null }),
      others: fc.array(fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: text }), {
        maxLength: 3,
      }),
      demos: fc.nat(2),
      params: fc.constantFrom({}, { temperature: 0.5 }, { max_tokens: 9, stop: ['x'] }),
    });
    await fc.assert(
      fc.asyncProperty(content, async ({ system, others, demos, params }) => {
        fc.pre(system !== null || others.length > 0);
        const messages = [...(system === null ? [] : [{ role: 'system' as const, content: system }]), ...others];
        const name = `any-${(fresh += 1)}`;
        const shown = Array.from({ length: demos }, (_, ordinal) => {
          return { component: null, seed: ordinal, ordinal, input: `in ${ordinal} {{name}}`, output: `out ${ordinal}` };
        });
        await deployContent(name, { messages, demos: shown, policy: { provider: 'openai', model: 'm', ...params } });
        const { body } = await promptOf(name);
        expect((await it.ask(name, question)).status).toBe(200);
        const asked = it.model.requests.at(-1)!.body;
        const own = { model: body.model, ...body.parameters, messages: [...body.messages, ...question.messages] };
        expect(own).toEqual(asked);
        const { start, end } = body.demonstrations ?? { start: 0, end: 0 };
        expect(body.messages.slice(start, end)).toEqual(
          shown.flatMap(({ input, output }) => [
            { role: 'user', content: input },
            { role: 'assistant', content: output },
          ]),
        );
      }),
      { numRuns: runs(15, 60) },
    );
  }, 60_000);

  test('has its placeholders, and nothing of the demonstrations among them', async () => {
    const messages = [
      { role: 'system' as const, content: 'Hello {{ name }}, {{name}} of {{company}}: {"a": {{}}}' },
      { role: 'user' as const, content: '{{question}}' },
    ];
    const demos = [{ component: null, seed: 1, ordinal: 0, input: '{{not}}', output: 'x' }];
    await deployContent('placed', { messages, demos, policy: { provider: 'openai', model: 'm' } });
    expect((await promptOf('placed')).body).toMatchObject({
      name: 'placed',
      version: 1,
      labels: ['production'],
      provider: 'openai',
      model: 'm',
      parameters: {},
      variables: ['name', 'company', 'question'],
      demonstrations: { start: 1, end: 3 },
    });
  });

  test('of a label or a version, in the query or in the reference', async () => {
    await it.deploy('chosen', 'one');
    await it.deploy('chosen', 'two');
    await it.http.call('PUT', `${base}/chosen/labels/staging`, { version: 1 });
    for (const [ref, query, version] of [
      ['chosen', '', 2],
      ['chosen', '?label=production', 2],
      ['chosen', '?label=staging', 1],
      ['chosen', '?version=1', 1],
      ['chosen@staging', '', 1],
    ] as const)
      expect([ref, query, (await promptOf(ref, query)).body.version]).toEqual([ref, query, version]);
    for (const [ref, query, status] of [
      ['chosen', '?label=none', 404],
      ['chosen', '?version=3', 404],
      ['chosen', '?version=0', 422],
      ['chosen', '?label=staging&version=1', 422],
      ['chosen@staging', '?label=staging', 422],
      ['chosen', '?lable=staging', 422],
    ] as const)
      expect([ref, query, (await promptOf(ref, query)).status]).toEqual([ref, query, status]);
  });

  test('of a version that is being built is 409 with the time of another try', async () => {
    it.held = true;
    const { body } = await it.create({ name: 'soon', source: saying('later') });
    const answer = await promptOf('soon');
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([409, 'not_ready', '1']);
    expect((await promptOf(`soon@${body.version}`)).body.code).toBe('not_ready');
  });

  test('needs infer or read', async () => {
    await it.deploy('guarded');
    for (const [scopes, status] of [
      [['infer'], 200],
      [['read'], 200],
      [['write'], 403],
    ] as [Scope[], number][]) {
      const secret = { orgId: 'default', name: 'k', scopes, expiresAt: null };
      const { key } = await it.http.db.org('default', (tx) => createKey(tx, secretKey, secret));
      expect([scopes, (await promptOf('guarded', '', { authorization: `Bearer ${key}` })).status]).toEqual([
        scopes,
        status,
      ]);
    }
  });
});

describe('an ETag', () => {
  test('answers 304 without a body while nothing changes', async () => {
    await it.deploy('tagged', 'one');
    const first = await promptOf('tagged');
    const etag = first.headers['etag'] as string;
    expect([etag, first.headers['cache-control']]).toEqual([
      expect.stringMatching(/^"[\w-]{43}"$/),
      'private, no-cache',
    ]);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const url = `${it.url}${base}/tagged/prompt`;
      const headers = { authorization: `Bearer ${it.http.key}`, 'if-none-match': known };
      const again = await fetch(url, { headers });
      expect([known, again.status, await again.text(), again.headers.get('etag')]).toEqual([known, 304, '', etag]);
    }
    expect((await promptOf('tagged', '', { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await promptOf('tagged', '?version=1')).headers['etag']).toBe(etag);

    await it.http.call('PUT', `${base}/tagged/labels/staging`, { version: 1 });
    const labelled = await promptOf('tagged', '', { 'if-none-match': etag });
    expect([labelled.status, labelled.body.labels]).toEqual([200, ['production', 'staging']]);
    await it.deploy('tagged', 'two');
    const second = await promptOf('tagged', '', { 'if-none-match': labelled.headers['etag'] as string });
    expect([second.status, second.body.version]).toEqual([200, 2]);
  });
});
