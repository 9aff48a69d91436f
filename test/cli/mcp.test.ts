import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runs } from '../support/runs.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { Tools } from '../support/tools.js';
import { until } from '../support/until.js';
import { rowsBaseline, startRowsWorld } from '../support/worlds/rows.js';

// `ratchet mcp` beside a service.

const on = serviceOfFile(() => startRowsWorld());
let folder: string;
let outside: string;
let tools: Tools;
const call: Tools['call'] = (...args) => tools.call(...args);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-mcp-'));
  const rows = on.world.rows(40).map((row) => JSON.stringify(row));
  writeFileSync(join(folder, 'rows.jsonl'), rows.join('\n'));
  writeFileSync(join(folder, 'prompt.txt'), rowsBaseline);
  writeFileSync(join(folder, 'better.txt'), `${rowsBaseline} rule-0. rule-1. rule-2.`);
  const project = { data: 'rows.jsonl', input: 'question', expected: 'answer', model: 'fake/policy' };
  writeFileSync(join(folder, 'ratchet.json'), JSON.stringify(project));
  outside = mkdtempSync(join(tmpdir(), 'ratchet-outside-'));
  writeFileSync(join(outside, 'secret.txt'), 'SECRET');
  writeFileSync(join(outside, 'secret.json'), 'SECRET');
  writeFileSync(join(outside, 'rows.jsonl'), '{"question": "SECRET", "answer": "SECRET"}');
  writeFileSync(join(folder, '.env'), 'SECRET');
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'link.txt'));
  symlinkSync(join(outside, 'rows.jsonl'), join(folder, 'link.jsonl'));
  symlinkSync(outside, join(folder, 'linked'));
  tools = await new Tools(folder, environment()).connect();
}, 60_000);
afterAll(async () => {
  await tools.close();
  for (const made of [folder, outside]) rmSync(made, { recursive: true });
});
const environment = () => ({ RATCHET_URL: on.service.url, RATCHET_API_KEY: on.service.apiKey });

test('the tools say what they take, and which of them only read', async () => {
  const { tools: listed } = await tools.client.listTools();
  const reading = listed.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
  expect(reading).toEqual([
    'list_jobs',
    'list_runs',
    'watch',
    'results',
    'rows',
    'list_candidates',
    'candidate',
    'trace',
    'compare',
    'health',
    'review_queue',
  ]);
  const before = ['evaluate', 'try_prompt', 'optimize', ...reading.slice(0, -1)];
  const others = ['control', 'deploy', 'migrate', 'checkup', 'improve', 'review_queue', 'review'];
  expect(listed.map(({ name }) => name)).toEqual([...before, ...others]);
  for (const { description, inputSchema } of listed) {
    expect(description).not.toBe('');
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
  }
  expect(tools.client.getInstructions()).toContain('held-out');
});

test('an agent evaluates, reads why rows failed, optimizes, compares and deploys', async () => {
  const before = await call('evaluate', { prompt: 'prompt.txt' });
  const after = await call('evaluate', { prompt: 'better.txt', name: 'better' });
  for (const { id } of [before, after]) expect(await call('watch', { id })).toMatchObject({ status: 'completed' });
  const results = await call('results', { id: after.id });
  expect(results).toMatchObject({ summary: { mean_reward: 0.75, num_seeds: 40 } });
  const lowest = results.lowest!;
  expect(lowest.map(({ reward }) => reward)).toEqual(Array<number>(10).fill(0));
  expect(lowest[0]).toMatchObject({ input: 'Row 3: rule 3', expected: 'needs rule-3.', answer: 'No rule.' });
  const { rows } = await call('rows', { id: after.id, search: 'RULE 3', limit: 2 });
  expect(rows).toMatchObject([{ row: 3, group: 'failing', answer: 'No rule.' }, { row: 7 }]);
  const trace = await call('trace', { id: after.id, trace_id: lowest[0]!.trace_id });
  expect(JSON.stringify(trace)).toContain('needs rule-3.');
  expect(await call('compare', { ids: [after.id, before.id], baseline: before.id })).toMatchObject({
    columns: [{ against_baseline: { verdict: 'better', won: 30 } }, { against_baseline: null }],
  });

  let reports = 0;
  const started = await call('optimize', { prompt: 'prompt.txt', proposer: 'fake/proposer', budget: 300 });
  expect(started).toMatchObject({ split: { heldout: expect.any(Number) } });
  const watched = await call('watch', { id: started.id }, () => (reports += 1));
  expect(watched).toMatchObject({ status: 'completed' });
  expect(reports).toBeGreaterThan(0);
  expect(await call('results', { id: started.id })).toMatchObject({ verdict: 'better' });
  expect((await call('list_jobs', { limit: 1 })).jobs).toMatchObject([{ job_id: started.id }]);

  const first = await call('list_candidates', { id: started.id, limit: 1 });
  expect(first.candidates).toMatchObject([{ is_baseline: true, decision: { reason: 'baseline' } }]);
  expect(first.candidates![0]!.messages[0]!.content).toContain(rowsBaseline);
  const whole = await call('candidate', { id: started.id, candidate_id: first.candidates![0]!.candidate_id });
  expect(whole.messages).toMatchObject(first.candidates![0]!.messages);
  const others = await call('list_candidates', { id: started.id, cursor: first.next_cursor });
  const prompts = others.candidates!.map(({ messages }) => JSON.stringify(messages));
  expect(prompts.some((prompt) => prompt.includes('rule-'))).toBe(true);

  const deployed = await call('deploy', { source: started.id, name: 'agents' });
  const ready = await call('watch', { id: deployed.id });
  expect(ready).toMatchObject({ status: 'ready', live: true });
  // The service goes on without this server.
  expect(ready.served_until).toBeUndefined();
  expect(await call('results', { id: deployed.id })).toMatchObject({ id: deployed.id, status: 'ready' });

  const { job_id: id } = await call('checkup', { name: 'agents', max_change: 0.3 });
  const checked = await call('watch', { id });
  expect(checked).toMatchObject({ status: 'completed', verdict: 'first', traffic: null, improvement: null });
  expect((await call('improve', { name: 'agents', scorer: 'exact' })).error).toContain('20 are needed');
}, 60_000);

test('an agent reviews rows and live answers as itself, beside the person of the key', async () => {
  const { id } = await call('evaluate', { prompt: 'better.txt', name: 'reviewed' });
  await call('watch', { id });
  const queue = await call('review_queue', { id, group: 'failing', limit: 2 });
  expect(queue).toMatchObject({ done: 0, left: 10, data: [{ row: 3, answer: 'No rule.', reviews: [] }, { row: 7 }] });
  const [first, second] = queue.data!;
  await on.service.api.client.reviews.put(id!, first!.subject_id, { verdict: 'wrong' });
  const said = { verdict: 'bad_expected', note: 'No rule 3 is known.', corrected: 'No rule.' };
  expect(await call('review', { id, subject_id: first!.subject_id, ...said })).toMatchObject({
    ...said,
    by: 'agent',
    row: 3,
  });
  await call('review', { id, subject_id: second!.subject_id, verdict: 'wrong', by: 'ann' });
  expect(await call('review_queue', { id, group: 'failing', limit: 1 })).toMatchObject({
    ...{ done: 1, left: 9 },
    data: [{ row: 7, reviews: [{ by: 'ann', verdict: 'wrong' }] }],
  });
  const { data } = await on.service.api.client.request('listReviews', { query: { job_id: id!, by: 'agent' } });
  expect(data).toMatchObject([said]);
  expect(data).toHaveLength(1);

  await call('deploy', { source: 'prompt.txt', name: 'asked' });
  const { error } = await call('review', { id: 'asked', subject_id: 'chatcmpl-none', verdict: 'right' });
  expect(error).toContain('chatcmpl-none');
  expect((await call('review', { id, subject_id: first!.subject_id, verdict: 'good' })).error).toContain('verdict');
}, 60_000);

test('control pauses, resumes and cancels; watch returns after its wait', async () => {
  const { id } = await call('optimize', { prompt: 'prompt.txt', proposer: 'fake/proposer', budget: 300 });
  expect(await call('control', { id, action: 'pause' })).toEqual({ id, status: 'paused' });
  expect(await call('watch', { id, wait_seconds: 0 })).toMatchObject({ status: 'paused' });
  expect(await call('control', { id, action: 'resume' })).toEqual({ id, status: 'running' });
  expect(await call('control', { id, action: 'cancel' })).toEqual({ id, status: 'cancelled' });
}, 60_000);

test.each([
  ['evaluate', {}, '--prompt'],
  ['evaluate', { prompt: 'none.txt' }, 'none.txt'],
  ['optimize', { prompt: 'prompt.txt', scorer: 'exactly' }, 'scorer'],
  ['results', { id: 'evl_00000000000000000000000000000000' }, '404'],
  ['watch', { id: 'job 7' }, 'job 7'],
  ['list_candidates', { id: 'evl_00000000000000000000000000000000' }, 'a session or a graph job'],
  ['compare', { ids: ['none', 'none'] }, '404'],
  ['results', { id: 'evl_00000000000000000000000000000000', fields: ['results'] }, 'fields'],
  ['watch', { id: 'evl_00000000000000000000000000000000' }, '404'],
])('%s %j fails with the reason', async (tool, args, reason) => {
  expect((await call(tool, args)).error).toContain(reason);
});

test.each([
  ['data', 'OUTSIDE/rows.jsonl'],
  ['data', '../BASE/rows.jsonl'],
  ['data', 'link.jsonl'],
  ['data', 'linked/rows.jsonl'],
  ['data', 'linked/none.jsonl'],
  ['data', '/etc/passwd'],
  ['data', 'OUTSIDE/promptfooconfig.yaml'],
  ['prompt', 'OUTSIDE/secret.txt'],
  ['prompt', 'OUTSIDE/none.txt'],
  ['prompt', 'link.txt'],
  ['prompt', '.env'],
  ['scorer', 'OUTSIDE/secret.json'],
  ['scorer', 'linked/secret.json'],
])('--%s %s is refused before it is read', async (field, name) => {
  const path = name.replace('OUTSIDE', outside).replace('BASE', basename(outside));
  const before = await jobsOf();
  for (const tool of ['evaluate', 'optimize']) {
    const { error } = await call(tool, { prompt: 'prompt.txt', [field]: path });
    expect(error).toContain(`--${field} ${path}: is `);
    expect(error).not.toContain('SECRET');
  }
  expect(await jobsOf()).toEqual(before);
});

const jobsOf = async () => (await call('list_jobs', {})).jobs;

test('deploy publishes no file outside of the working folder', async () => {
  for (const source of [join(outside, 'secret.txt'), 'link.txt', '.env', '/etc/hostname'])
    expect((await call('deploy', { source, name: 'stolen' })).error).toContain(`the source ${source}: is `);
});

test('nor do ratchet.json and a promptfoo file name one, or are one', async () => {
  const inner = join(folder, 'inner');
  mkdirSync(inner);
  writeFileSync(join(inner, 'prompt.txt'), rowsBaseline);
  const others = await new Tools(folder, environment(), ['--folder', 'inner']).connect();
  const failure = async (project: object | string, files: Record<string, string> = {}) => {
    rmSync(join(inner, 'ratchet.json'), { force: true });
    if (typeof project === 'string') symlinkSync(project, join(inner, 'ratchet.json'));
    else writeFileSync(join(inner, 'ratchet.json'), JSON.stringify(project));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(inner, name), text);
    return (await others.call('evaluate', { prompt: 'prompt.txt' })).error;
  };
  expect(await failure(join(outside, 'secret.json'))).toContain('ratchet.json ratchet.json: is outside');
  expect(await failure({ data: '../rows.jsonl' })).toContain('--data ../rows.jsonl: is outside');
  expect(
    await failure({ data: 'foo.yaml' }, { 'foo.yaml': 'providers: [openai:gpt-4]\ntests: file://../rows.jsonl' }),
  ).toContain('foo.yaml ../rows.jsonl: is outside');
  expect(
    await failure(
      { data: 'foo.yaml' },
      { 'foo.yaml': 'providers: [openai:gpt-4]\ntests: [{vars: ../linked/secret.json}]' },
    ),
  ).toContain('is outside');
  await others.close();
});

const url = 'http://127.0.0.1:9/collect';
const targets: [what: string, tool: string, args: Record<string, unknown>][] = [
  ['a scorer with a URL', 'evaluate', { scorer: JSON.stringify({ type: 'http', url }) }],
  ['a search with one', 'optimize', { scorer: JSON.stringify({ type: 'http', url }) }],
  ['a part of a scorer with a URL', 'evaluate', { scorer: weighted({ type: 'http', url }) }],
  ['a scorer with code', 'evaluate', { scorer: JSON.stringify({ type: 'javascript', code: '() => 1' }) }],
  ['a part of a scorer with code', 'optimize', { scorer: weighted({ type: 'javascript', code: '() => 1' }) }],
  ['a file with a URL', 'evaluate', { scorer: 'scorer.json' }],
  ['a gate with a container', 'deploy', { gate: { container_url: url, seeds: [1], min_reward: 0 } }],
  ['a gate with a scorer with a URL', 'deploy', { gate: gateOf({ type: 'http', url }) }],
  ['a gate with a part with code', 'deploy', { gate: gateOf(JSON.parse(weighted({ type: 'javascript', code: '' }))) }],
  ['a gate with a webhook', 'deploy', { gate: { ...gateOf('exact'), webhook_url: url } }],
];

function weighted(scorer: object): string {
  return JSON.stringify({ type: 'weighted', parts: [{ scorer: 'exact' }, { scorer }] });
}

function gateOf(scorer: unknown) {
  return { dataset: { rows: [{ input: 'a', expected: 'a' }] }, scorer, min_reward: 0 };
}

test.each(targets)('%s is refused: a steered call says no target', async (_, tool, args) => {
  writeFileSync(join(folder, 'scorer.json'), JSON.stringify({ type: 'http', url }));
  const before = [await jobsOf(), on.world.model.requests.length];
  const given = tool === 'deploy' ? { source: 'prompt.txt', name: 'stolen' } : { prompt: 'prompt.txt' };
  expect((await call(tool, { ...given, ...args })).error).toMatch(
    /^(?:--scorer|gate) has .* names no address and no code/,
  );
  expect([await jobsOf(), on.world.model.requests.length]).toEqual(before);
});

test.each(
  [
    'evl_../../admin/keys',
    'ses_/../../../api/v1/admin/keys',
    'evl_%2e%2e%2f',
    'evl_x?a=',
    'evl_x#',
    'grf_\\..',
    '',
  ].flatMap(
    (id) =>
      [
        ['watch', { id }],
        ['results', { id }],
        ['control', { id, action: 'cancel' }],
        ['list_candidates', { id }],
        ['candidate', { id, candidate_id: '../../x' }],
        ['trace', { id, trace_id: '../../../../admin/keys' }],
      ] as [string, Record<string, unknown>][],
  ),
)('%s %j reaches no other path of the service', async (tool, args) => {
  expect((await call(tool, args)).error).toMatch(/is no id of a job|404/);
});

describe('with many rows of long texts', () => {
  const most = 8_000;
  const long = 'x "y"\n'.repeat(60);
  const within = (part: Tools, limit: number) => expect(Math.max(...part.longest.values())).toBeLessThanOrEqual(limit);

  test('no answer grows with them', async () => {
    const rows = on.world
      .rows(runs(300, 10_000))
      .map(({ question, answer }) => JSON.stringify({ question: question + long, answer }));
    writeFileSync(join(folder, 'many.jsonl'), rows.join('\n'));
    writeFileSync(join(folder, 'long.txt'), `${rowsBaseline} ${long.repeat(20)}`);
    const large = await new Tools(folder, environment()).connect();
    try {
      const given = { data: 'many.jsonl', name: '"x" y'.repeat(20), proposer: 'fake/proposer', budget: 100_000 };
      const session = await large.call('optimize', { ...given, prompt: 'long.txt' });
      expect(session).toMatchObject({ split: { heldout: expect.any(Number) } });
      const evaluation = await large.call('evaluate', { data: 'many.jsonl', prompt: 'long.txt', name: given.name });
      const { id } = evaluation;
      await until('rows have ended', async () => ((await large.call('results', { id })).lowest?.length ?? 0) >= 10);
      for (const one of [session, evaluation]) {
        await large.call('watch', { id: one.id, wait_seconds: 0 });
        await large.call('results', { id: one.id });
        await large.call('control', { id: one.id, action: 'cancel' });
        expect(await large.call('watch', { id: one.id })).toMatchObject({ status: 'cancelled' });
      }
      await large.call('watch', { id: session.id, fields: ['split', 'candidates', 'sensor_frames'] });
      const [shown] = (await large.call('list_candidates', { id: session.id })).candidates!;
      expect(shown!.messages[0]!.content.length).toBeLessThan(most);
      expect((await large.call('list_jobs', {})).jobs).not.toHaveLength(0);
      within(large, most);
      const whole = await large.call('candidate', { id: session.id, candidate_id: shown!.candidate_id });
      expect(whole.messages![0]!.content.length).toBeGreaterThan(long.length * 20);
    } finally {
      await large.close();
    }
  }, 120_000);

  test('a list of jobs goes on at its next offset', async () => {
    const first = await call('list_jobs', { limit: 1 });
    const second = await call('list_jobs', { limit: 1, offset: first.next_offset });
    const both = await call('list_jobs', { limit: 2 });
    expect(both.jobs).toEqual([...first.jobs!, ...second.jobs!]);
    const all = await call('list_jobs', {});
    expect(all.next_offset).toBeNull();
  });
});

test('the server ends when its input closes', async () => {
  const { pid } = tools;
  await tools.close();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
