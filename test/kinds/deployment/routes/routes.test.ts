import { describe, expect, test } from '@jest/globals';
import { deployments as base } from '../../../support/jobs-over-http.js';
import type { DeploymentSpec } from '../../../../src/core/jobs/spec.js';
import { readSpec } from '../../../../src/jobs/store/spec.js';
import { deploymentsOfFile, saying } from './support.js';
import { seedCandidates } from '../../../platform/http/seed.js';
import { createSession } from '../../../platform/http/support.js';

const it = deploymentsOfFile();
const source = saying('I am frozen.');
const gate = { container_url: 'http://127.0.0.1:9', seeds: [1], min_reward: 0.5 };
const onRows = { dataset: { rows: [{ input: 'a', expected: 'b' }] }, scorer: 'exact' };
const rowsGate = { ...onRows, min_reward: 0.5 };
const pointersOf = (body: { errors?: { pointer: string }[] }) => body.errors?.map(({ pointer }) => pointer);

describe('creating a deployment', () => {
  test('answers its location before the build', async () => {
    it.held = true;
    const { status, body, headers } = await it.create({ name: 'new.one-1', source });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'new.one-1', status: 'pending', snapshot_id: null });
    expect(body.id).toMatch(/^dep_[0-9a-f]{32}$/);
    expect(body.workflow_id).toContain(body.id);
    expect(body.chat_completions_url).toBe(`http://127.0.0.1:8787${base}/${body.id}/chat/completions`);
    expect(body.name_chat_completions_url).toBe(`http://127.0.0.1:8787${base}/new.one-1/chat/completions`);
    expect(headers['location']).toBe(`${base}/${body.id}/status`);
    expect((await it.status(body.id)).body).toMatchObject({ id: body.id, status: 'pending', snapshot_id: null });
    const asked = await it.ask(body.id, { messages: [] });
    expect(asked.status).toBe(409);
    expect(await asked.json()).toMatchObject({ error: { code: 'not_ready', type: 'conflict_error' } });
  });

  test('reads a range of seeds of its gate', async () => {
    it.held = true;
    const { body } = await it.create({ name: 'ranged', source, gate: { ...gate, seeds: '3-12' } });
    expect((await it.status(body.id)).body.gate).toMatchObject({ seeds: 10 });
  });

  test('with the same Idempotency-Key returns the first deployment', async () => {
    const headers = { 'idempotency-key': 'deploy-once' };
    const [one, other] = [
      await it.http.call('POST', base, { name: 'once', source }, headers),
      await it.http.call('POST', base, { name: 'once', source }, headers),
    ];
    expect(other.body).toEqual(one.body);
    expect(other.headers['idempotency-replayed']).toBe('true');
  });

  test.each<[string, unknown, string[]]>([
    ['nothing', {}, ['/name', '/source']],
    ['a name with a slash', { name: 'a/b', source }, ['/name']],
    ['a name that looks like an id', { name: 'dep_1', source }, ['/name']],
    ['a reserved name', { name: 'snapshots', source }, ['/name']],
    ['an empty name', { name: '', source }, ['/name']],
    ['an empty source', { name: 'x', source: {} }, ['/source']],
    ['two sources', { name: 'x', source: { session_id: 'a', graph_job_id: 'b' } }, ['/source']],
    ['messages without a policy', { name: 'x', source: { messages: source.messages } }, ['/source/policy']],
    [
      'a policy beside a session',
      { name: 'x', source: { graph_job_id: 'a', policy: source.policy } },
      ['/source/policy'],
    ],
    ['a candidate of messages', { name: 'x', source: { ...source, candidate_id: 'c' } }, ['/source/candidate_id']],
    ...(
      [
        ['stream', true],
        ['messages', [1]],
        ['max_tokens', 'many'],
        ['max_tokens', 0],
        ['temperature', '0'],
        ['stop', 7],
        ['tools', [1], '/0'],
      ] as const
    ).map(([name, value, inside = '']): [string, unknown, string[]] => [
      `a policy with ${name} ${JSON.stringify(value)}`,
      { name: 'x', source: { ...source, policy: { ...source.policy, [name]: value } } },
      [`/source/policy/${name}${inside}`],
    ]),
    ['an empty list of messages', { name: 'x', source: { ...source, messages: [] } }, ['/source/messages']],
    ['an unknown field', { name: 'x', source, colour: 'red' }, ['/colour']],
    [
      'an unknown provider',
      { name: 'x', source: { ...source, policy: { provider: 'none', model: 'm' } } },
      ['/source/policy/provider'],
    ],
    ['a gate without a threshold', { name: 'x', source, gate: { ...gate, min_reward: undefined } }, ['/gate']],
    ['a gate with two thresholds', { name: 'x', source, gate: { ...gate, min_improvement: 0 } }, ['/gate']],
    ['a gate with a seed twice', { name: 'x', source, gate: { ...gate, seeds: [1, 2, 1] } }, ['/gate/seeds']],
    ['a gate with a container and rows', { name: 'x', source, gate: { ...gate, ...onRows } }, ['/gate/container_url']],
    ['rows without a scorer', { name: 'x', source, gate: { ...rowsGate, scorer: undefined } }, ['/gate/scorer']],
    ['a row beyond the last', { name: 'x', source, gate: { ...rowsGate, seeds: [3] } }, ['/gate/seeds']],
    [
      'rows that the scorer cannot use',
      { name: 'x', source, gate: { ...rowsGate, scorer: 'numeric' } },
      ['/gate/dataset/expected'],
    ],
    [
      'a gate on rows and no column for the input',
      {
        name: 'x',
        source,
        gate: { ...rowsGate, dataset: { rows: [{ text: 'a' }] }, scorer: { type: 'regex', pattern: 'a' } },
      },
      ['/gate/dataset/input'],
    ],
    [
      'a placeholder inside a text',
      { name: 'x', source: saying('Answer {{input}}.'), gate: rowsGate },
      ['/source/messages'],
    ],
    [
      'neither container nor rows',
      { name: 'x', source, gate: { seeds: [1], min_reward: 0.5 } },
      ['/gate/container_url'],
    ],
    [
      'a gate with sampled answers',
      { name: 'x', source, gate: { ...gate, answer_cache: 'sampled' } },
      ['/gate/answer_cache'],
    ],
    ['a gate without seeds', { name: 'x', source, gate: { ...gate, seeds: [] } }, ['/gate/seeds']],
    [
      'a gate with an invalid URL',
      { name: 'x', source, gate: { ...gate, container_url: 'nowhere' } },
      ['/gate/container_url'],
    ],
    ['an invalid session id', { name: 'x', source: { session_id: 'ses_1' } }, ['/source/session_id']],
    ['an invalid graph job id', { name: 'x', source: { graph_job_id: 'grf_1' } }, ['/source/graph_job_id']],
  ])('refuses %s, and names the field', async (_what, body, pointers) => {
    const before = await it.http.call('GET', base);
    const answer = await it.create(body as object);
    expect(answer.status).toBe(422);
    expect(pointersOf(answer.body)).toEqual(pointers);
    expect((await it.http.call('GET', base)).body).toEqual(before.body);
  });

  test('a gate on rows scores as the session did, unless it names a scorer', async () => {
    const jobId = await createSession(it.http, {
      container_url: undefined,
      initial_prompt: { messages: [{ role: 'system', content: 'Answer.' }] },
      dataset: { rows: Array.from({ length: 20 }, (_, n) => ({ input: `q${n}`, expected: `a${n}` })) },
      scorer: { type: 'contains', case_sensitive: true },
      gepa: { generations: 2, population_size: 2 },
    });
    await seedCandidates(it.http, jobId, [{ status: 'evaluated', reward: 0.2, generation: 0, text: 'the baseline' }]);
    const candidate_id = `cand_${jobId.slice(4)}_0`;
    const scorerOf = async (scorer?: string) => {
      const { body } = await it.create({
        name: 'scored',
        source: { session_id: jobId, candidate_id },
        gate: { ...rowsGate, scorer, seeds: [0] },
      });
      const { rows } = await it.http.db.org('default', (tx) => readSpec<DeploymentSpec>(tx, body.id));
      return rows?.scorer;
    };
    expect(await scorerOf()).toEqual({ type: 'contains', caseSensitive: true });
    expect(await scorerOf('exact')).toEqual({ type: 'exact', caseSensitive: false });
  });

  test('takes the named candidate of a session or else the best, and refuses a missing one', async () => {
    const jobId = await createSession(it.http);
    const from = (more = {}) => it.create({ name: 'from-session', source: { session_id: jobId, ...more } });
    expect((await from()).body).toMatchObject({ status: 409, code: 'candidate_not_ready' });
    await seedCandidates(it.http, jobId, [
      { status: 'evaluated', reward: 0.2, generation: 0, text: 'the baseline' },
      { status: 'evaluated', reward: 0.8, generation: 1, parents: [0], text: 'the best' },
    ]);
    const [baseline, best] = [0, 1].map((n) => `cand_${jobId.slice(4)}_${n}`);
    const interval = { low: 0.7, high: 0.98 };
    const compared = { seeds: 33, baseline: 0.3, winner: 0.9, winnerInterval: interval };
    await it.http.db.org('default', (tx) =>
      tx.query(`update jobs set projection = $2 where id = $1`, [
        jobId,
        { bestCandidateId: best, verdict: { verdict: 'better', basis: 'heldout', ...compared } },
      ]),
    );
    const heldout = { rows: 33, reward: 0.9, interval, baseline_reward: 0.3 };
    const measured: unknown[] = [];
    const frozen = async (more = {}) => {
      const { id } = (await from(more)).body;
      const { snapshot_id, source } = (await it.status(id)).body;
      measured.push([source.reward, source.verdict, source.heldout]);
      return (await it.http.call('GET', `${base}/snapshots/${snapshot_id}`)).body;
    };
    expect(await frozen()).toMatchObject({
      messages: [{ role: 'system', content: 'the best' }],
      provenance: { source: 'session', job_id: jobId, candidate_id: best, reward: 0.8, verdict: 'better', heldout },
    });
    expect(await frozen({ candidate_id: baseline })).toMatchObject({
      messages: [{ role: 'system', content: 'the baseline' }],
      provenance: { candidate_id: baseline, reward: 0.2, verdict: null },
    });
    expect(measured).toEqual([
      [0.8, 'better', heldout],
      [0.2, null, null],
    ]);
    const ended = await createSession(it.http);
    await it.http.call('POST', `/api/v1/online/sessions/${ended}/cancel`);
    const refused = (await it.create({ name: 'x', source: { session_id: ended } })).body;
    expect(refused).toMatchObject({ status: 409, code: 'candidate_not_ready' });
    expect(refused.detail).toContain('cancelled');
    expect(pointersOf((await from({ candidate_id: 'cand_x' })).body)).toEqual(['/source/candidate_id']);
  });
});

describe('deployments', () => {
  test('are listed newest first, by status, limit and offset, without deleted ones', async () => {
    const ids: string[] = [];
    for (const name of ['list-a', 'list-b', 'list-c']) ids.unshift(await it.deploy(name));
    it.held = true;
    const waiting = await it.deploy('list-d');
    const list = async (query: string) => {
      const { body } = await it.http.call('GET', `${base}?${query}`);
      return (body.deployments as { id: string }[]).map(({ id }) => id);
    };
    expect((await list('')).slice(0, 4)).toEqual([waiting, ...ids]);
    expect((await list('status=ready')).slice(0, 3)).toEqual(ids);
    expect((await list('status=pending'))[0]).toBe(waiting);
    expect(await list('status=failed')).toEqual([]);
    expect(await list('status=ready&limit=1&offset=1')).toEqual([ids[1]]);
    const { body } = await it.http.call('GET', `${base}?limit=1&status=ready`);
    expect(body.deployments[0]).toMatchObject({ id: ids[0], name: 'list-c', status: 'ready', live: true });
    for (const query of ['limit=0', 'limit=1001', 'offset=-1', 'status=live', 'page=2'])
      expect([query, (await it.http.call('GET', `${base}?${query}`)).status]).toEqual([query, 422]);

    expect((await it.http.call('DELETE', `${base}/${ids[0]}`)).status).toBe(204);
    expect((await list('status=ready'))[0]).toBe(ids[1]);
  });

  test('one deployment of a name is live; rollback restores the previous one', async () => {
    const [first, second, third] = [
      await it.deploy('rolled', 'one'),
      await it.deploy('rolled', 'two'),
      await it.deploy('rolled', 'three'),
    ];
    const live = async () =>
      Promise.all([first, second, third].map(async (id) => (await it.status(id)).body.live as boolean));
    const rollBack = (id: string) => it.http.call('POST', `${base}/${id}/rollback`);
    const served = async () => (await it.ask('rolled', { messages: [] })).headers.get('x-ratchet-deployment-id');
    expect(await live()).toEqual([false, false, true]);
    expect((await rollBack(third)).body).toMatchObject({ name: 'rolled', id: second, rolled_back_id: third });
    expect([await live(), await served()]).toEqual([[false, true, false], second]);
    // A repeated request does not roll back again.
    expect((await rollBack(third)).body).toMatchObject({ status: 409, code: 'deployment_not_live' });
    expect((await rollBack(second)).body).toMatchObject({ id: first });
    expect((await rollBack(first)).body).toMatchObject({ status: 409, code: 'nothing_before' });
    expect(await served()).toBe(first);
    const fourth = await it.deploy('rolled', 'four');
    expect((await it.status(fourth)).body).toMatchObject({ live: true, previous_id: first });
  });

  test('serve nothing and are 404 after a delete; a rollback skips them, and their snapshot stays', async () => {
    const [first, second, third] = [
      await it.deploy('gone', 'one'),
      await it.deploy('gone', 'two'),
      await it.deploy('gone', 'three'),
    ];
    const { snapshot_id } = (await it.status(second)).body;
    expect((await it.http.call('DELETE', `${base}/${second}`)).status).toBe(204);
    for (const [method, path] of [
      ['GET', '/status'],
      ['GET', '/stats'],
      ['GET', '/events'],
      ['POST', '/rollback'],
      ['DELETE', ''],
    ] as const)
      expect([path, (await it.http.call(method, `${base}/${second}${path}`)).status]).toEqual([path, 404]);
    expect((await it.ask(second, { messages: [] })).status).toBe(404);
    expect((await it.http.call('GET', `${base}/snapshots/${snapshot_id}`)).status).toBe(200);
    expect((await it.http.call('POST', `${base}/${third}/rollback`)).body).toMatchObject({ id: first });

    expect((await it.http.call('DELETE', `${base}/${first}`)).status).toBe(204);
    expect((await it.ask('gone', { messages: [] })).status).toBe(404);
    const next = await it.deploy('gone', 'four');
    expect((await it.ask('gone', { messages: [] })).headers.get('x-ratchet-deployment-id')).toBe(next);
    expect((await it.http.call('POST', `${base}/${next}/rollback`)).body).toMatchObject({ code: 'nothing_before' });
  });

  test('of another organization are 404, and each organization has its own names', async () => {
    const id = await it.deploy('shared', 'mine');
    const { snapshot_id } = (await it.status(id)).body;
    const theirs = { authorization: `Bearer ${it.http.otherKey}` };
    for (const [method, path] of [
      ['GET', `/${id}/status`],
      ['GET', `/${id}/stats`],
      ['GET', `/${id}/events`],
      ['POST', `/${id}/rollback`],
      ['DELETE', `/${id}`],
      ['GET', `/snapshots/${snapshot_id}`],
      ['GET', `/snapshots/${snapshot_id}/diff/${snapshot_id}`],
    ] as const)
      expect([path, (await it.http.call(method, `${base}${path}`, undefined, theirs)).status]).toEqual([path, 404]);
    expect((await it.http.call('GET', base, undefined, theirs)).body).toEqual({ deployments: [] });
    for (const ref of [id, 'shared']) expect((await it.ask(ref, { messages: [] }, theirs)).status).toBe(404);
    const other = await it.http.call('POST', base, { name: 'shared', source: saying('theirs') }, theirs);
    const asked = await it.ask('shared', { messages: [] }, theirs);
    expect(asked.headers.get('x-ratchet-deployment-id')).toBe(other.body.id);
    expect((await it.status(id)).body.live).toBe(true);
    expect((await it.ask('shared', { messages: [] }, { authorization: 'Bearer nobody-knows-this' })).status).toBe(401);
  });

  test('are no jobs for the routes that pause, resume or cancel', async () => {
    const id = await it.deploy('no-job');
    expect((await it.http.call('PATCH', `/api/v1/offline/jobs/${id}`, { state: 'paused' })).status).toBe(404);
  });
});

describe('a snapshot', () => {
  const snapshotOf = async (id: string) =>
    (await it.http.call('GET', `${base}/snapshots/${(await it.status(id)).body.snapshot_id}`)).body;

  test('is equal for equal content and different for other content', async () => {
    const ids = await Promise.all(
      [
        { name: 'same-1', source: saying('same') },
        { name: 'same-2', source: { policy: saying('').policy, messages: [{ content: 'same', role: 'system' }] } },
        { name: 'same-3', source: saying('Same') },
      ].map(async (body) => (await it.create(body)).body.id as string),
    );
    const [first, same, other] = await Promise.all(
      ids.map(async (id) => (await it.status(id)).body.snapshot_id as string),
    );
    expect(first).toMatch(/^snap_[0-9a-f]{64}$/);
    expect(same).toBe(first);
    expect(other).not.toBe(first);
  });

  test('shows a part-by-part difference to another', async () => {
    const one = await snapshotOf(await it.deploy('diff', 'Be short.\nBe kind.'));
    const policy = { provider: 'openai', model: 'gpt-4o' };
    const messages = [
      { role: 'system', content: 'Be short.\nBe exact.' },
      { role: 'user', content: 'An example' },
    ];
    const { id } = (await it.create({ name: 'diff', source: { messages, policy } })).body;
    const other = await snapshotOf(id);
    const path = `${base}/snapshots/${one.snapshot_id}/diff/${other.snapshot_id}`;
    const { body } = await it.http.call('GET', path);
    expect(body).toMatchObject({ from: one.snapshot_id, to: other.snapshot_id, identical: false });
    expect(body.parts.map(({ part, change }: Record<string, string>) => [part, change])).toEqual([
      ['messages/system', 'changed'],
      ['policy', 'changed'],
      ['messages/user', 'added'],
    ]);
    expect(body.parts[0].diff).toContain('-Be kind.\n+Be exact.');
    const same = await it.http.call('GET', `${base}/snapshots/${one.snapshot_id}/diff/${one.snapshot_id}`);
    expect(same.body).toMatchObject({ identical: true, parts: [] });
    expect((await it.http.call('GET', `${base}/snapshots/${one.snapshot_id}/diff/snap_0`)).status).toBe(404);
  });
});

describe('a name', () => {
  const get = (path: string) => it.http.call('GET', `${base}/${path}`);
  const list = (query: string) => it.http.call('GET', `${base}?${query}`);

  test('stands for the deployment that it serves, in every read', async () => {
    await it.deploy('named', 'one');
    const second = await it.deploy('named', 'two');
    for (const path of ['named', 'named/status', second, `${second}/status`]) {
      expect((await get(path)).body).toMatchObject({ id: second, name: 'named', live: true });
    }
    expect((await get('named/stats')).body.deployment_id).toBe(second);
    expect((await get('named/events')).status).toBe(200);
  });

  test('is rolled back and deleted as the deployment that it serves', async () => {
    const [first, second, third] = [
      await it.deploy('taken', '1'),
      await it.deploy('taken', '2'),
      await it.deploy('taken', '3'),
    ];
    const change = (method: 'POST' | 'DELETE', path: string, headers = {}) =>
      it.http.call(method, `${base}/${path}`, undefined, headers);
    const back = await change('POST', 'taken/rollback', { 'idempotency-key': 'once' });
    expect([back.status, back.body]).toMatchObject([200, { id: second, rolled_back_id: third }]);
    const again = await change('POST', 'taken/rollback', { 'idempotency-key': 'once' });
    expect(again.body).toMatchObject({ id: second, rolled_back_id: third });
    expect((await get('taken')).body).toMatchObject({ id: second, live: true });
    expect((await change('DELETE', 'taken')).status).toBe(204);
    // The name serves nothing now, so a repeated request deletes no other deployment.
    expect((await change('DELETE', 'taken')).status).toBe(404);
    expect((await change('POST', 'taken/rollback')).status).toBe(404);
    for (const id of [first, third]) expect((await get(id)).body).toMatchObject({ id, live: false });
  });

  test('that serves nothing yet stands for its newest deployment', async () => {
    it.held = true;
    const { id } = (await it.create({ name: 'unborn', source })).body;
    const { id: newer } = (await it.create({ name: 'unborn', source })).body;
    expect((await get('unborn')).body).toMatchObject({ id: newer, status: 'pending' });
    expect((await get('nobody')).status).toBe(404);
    expect((await list('name=unborn')).body.deployments.map((item: { id: string }) => item.id)).toEqual([newer, id]);
  });

  test('filters the list: the versions of the name, newest first', async () => {
    const ids: string[] = [];
    for (const text of ['a', 'b', 'c']) ids.unshift(await it.deploy('versions', text));
    const listed = (await list('name=versions')).body.deployments;
    expect(listed.map(({ id, live }: { id: string; live: boolean }) => [id, live])).toEqual([
      [ids[0], true],
      [ids[1], false],
      [ids[2], false],
    ]);
    expect((await list('name=versions&limit=1&offset=1')).body.deployments).toHaveLength(1);
    expect((await list('name=nobody')).body.deployments).toEqual([]);
    const as = { authorization: `Bearer ${it.http.otherKey}` };
    expect((await it.http.call('GET', `${base}/versions`, undefined, as)).status).toBe(404);
  });
});
