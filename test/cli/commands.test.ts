import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { answers } from '../support/fakes/container-answers.js';
import { containersOfEachTest } from '../support/fakes/containers-of-each-test.js';
import { built, deploy } from '../support/deployments-over-http.js';
import { gate } from '../support/gate.js';
import type { Evaluation } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { graphDataset } from '../support/worlds/graph.js';
import { rowsBaseline, startRowsWorld } from '../support/worlds/rows.js';

const root = join(import.meta.dirname, '../..');
const on = serviceOfFile(() => startRowsWorld());
const container = containersOfEachTest();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratchet-cli-'));
  const lines = on.world.rows(40).map((row) => JSON.stringify(row));
  await writeFile(join(folder, 'rows.jsonl'), lines.join('\n'));
  await writeFile(join(folder, 'prompt.txt'), `${rowsBaseline}\n`);
  await writeFile(join(folder, 'list.json'), '["exact"]');
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a command in the folder, on the service of the tests. */
function ratchet(...args: string[]) {
  return run(args, { RATCHET_API_KEY: on.service.apiKey });
}

function run(args: string[], key: object, input = '') {
  const command = [join(root, 'dist/src/cli/ratchet.js'), ...args];
  const env = { ...process.env, RATCHET_URL: on.service.url, ...key };
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    const child = execFile(process.execPath, command, { cwd: folder, env }, (_error, out, err) => {
      resolve({ code: child.exitCode, out, err });
    });
    child.stdin!.end(input);
  });
}

const task = ['--data', 'rows.jsonl', '--input', 'question', '--expected', 'answer', '--model', 'fake/policy'];
const files40 = [...task.slice(0, 6), '--prompt', 'prompt.txt'];
const written = (name: string) => readFile(join(folder, name), 'utf8');

describe('optimize', () => {
  test('prints split, estimate and verdict, and writes the best prompt', async () => {
    const more = ['--prompt', 'prompt.txt', '--proposer', 'fake/proposer', '--budget', '300'];
    const { code, out, err } = await ratchet('optimize', ...task, ...more);
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(err).toMatch(new RegExp(`^Ratchet \\S+ at ${on.service.url}$`, 'm'));
    expect(err).toContain('Split: 16 train, 11 evaluation, 13 held-out rows');
    expect(err).toContain('At most 300 rollouts');
    expect(err.match(/^Note: /gm) ?? []).toEqual([]);
    expect(out).toMatch(/^\+rule-\d\.$/m);
    expect(out).toMatch(/Better on 13 held-out rows: 0\.000 -> 1\.000/);
    const best = await written('best-prompt.txt');
    expect(best.startsWith(rowsBaseline)).toBe(true);
    for (let rule = 0; rule < 4; rule += 1) expect(best).toContain(`rule-${rule}.`);

    const id = /^Session (\S+): http/m.exec(err)![1]!;
    const forms = ['prompt.txt', 'json', 'promptfoo', 'langfuse', 'dspy', 'mlflow'];
    const exported = await Promise.all(forms.map((form) => ratchet('export', id, '--to', form)));
    expect(exported.filter((one) => one.code !== 0)).toEqual([]);
    const [text, ...others] = exported.map((one) => one.out);
    expect(text).toBe(best);
    const baseline = await ratchet('export', `cand_${id.slice(4)}_0`);
    expect(baseline).toMatchObject({ code: 0, out: `${rowsBaseline}\n` });
    const [messages, promptfoo, langfuse, dspy, mlflow] = others.map((json) => JSON.parse(json));
    expect(messages.messages[1]).toEqual({ role: 'user', content: '{{input}}' });
    expect(JSON.parse(promptfoo.prompts[0])).toEqual(messages.messages);
    expect(langfuse).toMatchObject({ type: 'chat', prompt: messages.messages });
    expect(dspy.signature.instructions).toBe(messages.messages[0].content);

    const watched = await ratchet('watch', id);
    expect(watched).toMatchObject({ code: 0, err: expect.stringContaining(`ratchet export ${id} `) });
    expect(watched.out).toMatch(/^\+rule-\d\.$/m);
    expect(watched.out).toMatch(/^Better on 13 held-out rows/m);

    const { history, status, best_reward } = JSON.parse((await ratchet('results', id)).out);
    expect(mlflow).toMatchObject({
      'runs/create': { run_name: id, tags: expect.arrayContaining([{ key: 'ratchet.status', value: status }]) },
      'runs/log-batch': { params: expect.arrayContaining([{ key: 'algorithm', value: 'gepa' }]) },
      'runs/update': { status: 'FINISHED' },
      'registered-models/create': { name: id, tags: [{ key: 'mlflow.prompt.is_prompt', value: 'true' }] },
      'model-versions/create': {
        tags: expect.arrayContaining([{ key: 'mlflow.prompt.text', value: JSON.stringify(messages.messages) }]),
      },
    });
    const metrics = mlflow['runs/log-batch'].metrics as { key: string; value: number; step: number }[];
    const rewards = metrics.filter(({ key }) => key === 'best_reward');
    expect(rewards.map(({ step, value }) => [step, value])).toEqual(
      (history as { generation: number; best_reward: number }[]).map((point) => [point.generation, point.best_reward]),
    );
    expect(rewards.at(-1)!.value).toBe(best_reward);

    const labels = ['--name', 'best of teams', '--tag', 'nightly', 'team-a'];
    const evaluated = await ratchet('eval', ...task, '--prompt', 'best-prompt.txt', ...labels);
    const listed = await ratchet('list', '--json', '--limit', '1');
    expect(JSON.parse(listed.out)).toMatchObject([{ name: 'best of teams', tags: ['nightly', 'team-a'] }]);
    expect((await ratchet('list')).out).toMatch(/^evl_\w+ +completed .* best of teams$/m);
    expect(evaluated).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Mean reward 1\.000 on 40 rows \(unseen rows: 0\.912 to 1\.000\)$/m),
    });

    const before = await ratchet('eval', ...task, '--prompt', 'prompt.txt', '--json');
    expect(JSON.parse(before.out)).toMatchObject({ summary: { mean_reward: 0, num_seeds: 40 } });
    const [a, b] = [before, evaluated].map(({ err }) => /^Evaluation (\S+): http/m.exec(err)![1]!);

    const run = JSON.parse((await ratchet('export', b!, '--to', 'mlflow')).out);
    expect(run['runs/log-batch'].metrics).toContainEqual(
      expect.objectContaining({ key: 'mean_reward', value: 1, step: 0 }),
    );
    expect(run).toMatchObject({ 'runs/create': { run_name: 'best of teams' } });
    expect(Object.keys(run)).toEqual(['runs/create', 'runs/log-batch', 'runs/update']);
    const traces = await ratchet('export', b!, '--to', 'langfuse-traces');
    const [body, ...rest] = traces.out.trimEnd().split('\n');
    expect([traces.code, rest]).toEqual([0, []]);
    const { batch } = JSON.parse(body!) as { batch: { type: string; body: { traceId?: string; value?: number } }[] };
    const scores = batch.filter(({ type }) => type === 'score-create').map((score) => score.body);
    expect(scores.map(({ value }) => value)).toEqual(Array(40).fill(1));
    const generations = batch.filter(({ type }) => type === 'generation-create').map((event) => event.body.traceId);
    expect(generations.sort()).toEqual(scores.map(({ traceId }) => traceId).sort());

    const [better, worse] = await Promise.all([ratchet('compare', a!, b!), ratchet('compare', b!, a!)]);
    expect(better).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^b - a: 1\.000 .* b won 40, lost 0, tied 0$/m),
    });
    expect(worse).toMatchObject({ code: 1, err: expect.stringContaining('b is worse') });
    const compared = await ratchet('compare', a!, b!, '--json');
    expect(JSON.parse(compared.out)).toMatchObject({ verdict: 'better', won: 40 });
  }, 180_000);

  test.each([
    [{ card: 'team_green', refund: 'team_blue', password: 'team_red' }],
    [{ card: 'north', refund: 'south', password: 'west' }],
    [{ card: 'A', refund: 'B', password: 'C' }],
  ])(
    'of 30 rows without a key gives a better prompt and a verdict: %j',
    async (teams) => {
      const ends = 'was promised,never arrived,is wrong,does not work,is missing,was lost,is late,came twice';
      const rows = [...ends.split(','), 'was changed', 'is needed today'].flatMap((end) =>
        Object.entries(teams).map(([subject, expected]) => ({ input: `My ${subject} ${end}.`, expected })),
      );
      await writeFile(join(folder, 'teams.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
      await writeFile(join(folder, 'teams.txt'), `Name the team.\n\nLabels: ${Object.values(teams).join(', ')}\n`);
      const files = ['--data', 'teams.jsonl', '--prompt', 'teams.txt', '--out', 'better.txt', '--heldout', '6'];
      const calls = on.world.model.requests.length;
      const { code, out, err } = await ratchet('optimize', ...files);
      expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('6 held-out rows') });
      expect(out).toMatch(
        /^Better on 6 held-out rows: 0\.\d+ -> 1\.000 \(unseen rows: 0\.541 to 1\.000\); 95 %: difference 0\.\d+ to /m,
      );
      const better = await written('better.txt');
      for (const subject of Object.keys(teams)) expect(better).toContain(subject);
      expect(on.world.model.requests).toHaveLength(calls);
    },
    60_000,
  );

  test('with --json prints the results alone', async () => {
    const more = [
      '--prompt',
      'prompt.txt',
      '--proposer',
      'fake/proposer',
      '--budget',
      '60',
      '--json',
      '--out',
      'b.json',
    ];
    const { code, out } = await ratchet('optimize', ...task, ...more);
    expect(code).toBe(0);
    const { best_prompt: best, session_id: id } = JSON.parse(out);
    expect(JSON.parse(await written('b.json'))).toEqual({ messages: best.messages });

    const [listed, results, cancelled] = await Promise.all([
      ratchet('list', '--limit', '5'),
      ratchet('results', id),
      ratchet('cancel', id),
    ]);
    expect(listed.out).toMatch(new RegExp(`^${id} +completed`, 'm'));
    expect(JSON.parse(results.out)).toMatchObject({ session_id: id, status: 'completed' });
    expect(cancelled).toMatchObject({ code: 1, err: expect.stringContaining('409') });
  }, 60_000);

  test('prints the best prompt if it can no longer be written', async () => {
    await mkdir(join(folder, 'gone'));
    on.world.model.reply(async (request) => {
      await rm(join(folder, 'gone'), { recursive: true, force: true });
      return on.world.answer(request);
    });
    const more = ['--prompt', 'prompt.txt', '--proposer', 'fake/proposer', '--budget', '60', '--out', 'gone/best.txt'];
    const { code, out, err } = await ratchet('optimize', ...task, ...more);
    on.world.reset();
    const id = /^Session (\S+): http/m.exec(err)![1]!;
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`ratchet export ${id} `) });
    expect(out).toContain((await ratchet('export', id)).out.trim());
    expect(err).not.toMatch(/^\s+at /m);
  }, 60_000);

  test('sends the parameters with the answers, and without them the proposals', async () => {
    const calls = on.world.model.requests.length;
    // Without a proposer the model writes the prompts, too.
    on.world.model.reply((request) => {
      const { body } = request as { body: Record<string, unknown> };
      const isAnswer = body['top_p'] !== undefined;
      return on.world.answer(isAnswer ? request : { ...request, body: { ...request.body, model: 'proposer' } });
    });
    const more = ['--prompt', 'prompt.txt', '--budget', '60', '--temperature', '0.5', '--param', 'top_p=0.5'];
    const { code, err } = await ratchet('optimize', ...task, ...more, '--out', 'p.txt');
    const bodies = on.world.model.requests.slice(calls).map(({ body }) => body as unknown as Record<string, unknown>);
    on.world.reset();
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(bodies.filter((body) => body['top_p'] === 0.5 && body['temperature'] === 0.5).length).toBeGreaterThan(20);
    expect(bodies.filter((body) => body['top_p'] === undefined).length).toBeGreaterThan(0);
  }, 60_000);

  test('names the option of what only the service knows', async () => {
    const { code, err } = await ratchet('optimize', ...files40, '--model', 'nobody/x');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/^ratchet: --model: .*nobody/m) });
    expect(err.match(/not found/g)).toHaveLength(1);
  }, 60_000);

  test.each([
    ['no data', ['optimize', '--prompt', 'prompt.txt'], 2, '--data'],
    ['no prompt', ['optimize', '--data', 'rows.jsonl'], 2, '--prompt'],
    ['a file that is not there', ['optimize', '--data', 'none.jsonl', '--prompt', 'prompt.txt'], 2, 'none.jsonl'],
    ['a file of another kind', ['optimize', '--data', 'prompt.txt', '--prompt', 'prompt.txt'], 2, '.jsonl'],
    ['a budget that is no number', ['optimize', '--budget', 'many'], 2, 'whole number'],
    [
      'a column that is not there',
      ['eval', '--data', 'rows.jsonl', '--prompt', 'prompt.txt'],
      2,
      '"question", "answer"',
    ],
    ['an unknown job', ['results', 'x'], 2, 'no id of a job'],
    ['a list as the scorer', ['eval', '--data', 'rows.jsonl', '--scorer', 'list.json'], 2, 'list.json'],
  ])(
    'with %s says what is wrong',
    async (_, args, code, message) => {
      const ended = await ratchet(...args);
      expect(ended).toMatchObject({ code, err: expect.stringContaining(message) });
      expect(ended.err).not.toMatch(/^\s+at /m);
    },
    60_000,
  );

  test('of a job that fails ends with 1 and its error', async () => {
    on.world.model.reply(() => ({ status: 404, raw: '{"error":{"message":"no such model"}}' }));
    const { code, err } = await ratchet('optimize', ...task, '--prompt', 'prompt.txt');
    on.world.reset();
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('no such model') });
    expect(err).not.toMatch(/^\s+at /m);
  }, 60_000);
});

test('pause and resume a running job; list and results show it as JSON', async () => {
  const waits = gate();
  on.world.model.reply(async (request) => {
    await waits.opened;
    return on.world.answer(request);
  });
  const { session_id: id } = await on.service.api.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
    policy_optimization: { algorithm: 'gepa', ...on.world.job(12), gepa: { population_size: 2, generations: 2 } },
  });
  await until('it runs', () => on.world.model.requests.length > 0);
  expect(await ratchet('pause', id)).toMatchObject({ code: 0, out: `${id} is paused.\n` });
  const [listed, results] = await Promise.all([ratchet('list', '--json'), ratchet('results', id)]);
  expect(JSON.parse(listed.out)[0]).toMatchObject({ job_id: id, status: 'paused' });
  expect(JSON.parse(results.out)).toMatchObject({ session_id: id, status: 'paused' });
  expect(await ratchet('resume', id)).toMatchObject({ code: 0, out: `${id} is running.\n` });
  expect(await ratchet('cancel', id)).toMatchObject({ code: 0, out: `${id} is cancelled.\n` });
  waits.open();
  on.world.reset();
}, 60_000);

test('init writes a project that optimize reads, and overwrites nothing', async () => {
  const first = await ratchet('init', 'sample');
  expect(first).toMatchObject({ code: 0 });
  const project = JSON.parse(await written('sample/ratchet.json'));
  expect(project).toMatchObject({ data: 'data.jsonl', prompt: 'prompt.txt', scorer: 'exact', model: 'local' });
  expect((await written('sample/data.jsonl')).trim().split('\n').length).toBe(100);
  expect(await ratchet('init', 'sample')).toMatchObject({ code: 2, err: expect.stringContaining('exists') });
}, 60_000);

describe('doctor', () => {
  test('checks the contract of a container', async () => {
    const { url, behave } = await container();
    behave(() => answers.reward(1, 'good'));
    const { code, out } = await ratchet('doctor', url);
    expect(out).toMatch(/^ok {4}container answers rollouts/m);
    expect(out).toMatch(/^ok {4}the same seed scores alike: 1\.000 and 1\.000/m);
    // The fake container calls no model.
    expect(out).toMatch(/^FAIL {2}the model is called through inference_url: 0 calls/m);
    expect(code).toBe(1);
  }, 60_000);

  test('passes a container that calls the model through the proxy', async () => {
    const { url, behave } = await container();
    const input = { system: 'Answer well.', user: 'Row 0: rule 0' };
    behave(() =>
      answers.askModel(
        () => input,
        () => ({ reward: 1, feedback: 'good' }),
      ),
    );
    on.world.model.reply(() => ({ text: 'ok' }));
    const { code, out } = await ratchet('doctor', url, '--model', 'fake/policy');
    on.world.reset();
    expect({ code, out }).toMatchObject({ code: 0, out: expect.not.stringContaining('FAIL') });
    expect(out).toMatch(/^ok {4}the model is called through inference_url: 3 calls/m);
  }, 60_000);

  test('names rewards outside of 0 to 1, rewards that differ, and missing feedback', async () => {
    const { url, behave } = await container();
    let calls = 0;
    behave(() => answers.reward(100 * (calls += 1)));
    const { code, out } = await ratchet('doctor', url);
    for (const check of ['rewards are 0 to 1', 'the same seed scores alike', 'feedback for the proposer'])
      expect(out).toMatch(new RegExp(`^FAIL {2}${check}: `, 'm'));
    expect(code).toBe(1);
  }, 60_000);

  test('names a wrong port and an unknown provider', async () => {
    const [port, provider] = await Promise.all([
      ratchet('doctor', 'http://127.0.0.1:9'),
      ratchet('doctor', '--model', 'nobody/x'),
    ]);
    expect(port).toMatchObject({ code: 1, out: expect.stringMatching(/^FAIL {2}container answers rollouts: .*:9/m) });
    expect(provider).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^FAIL {2}model nobody\/x answers: provider nobody/m),
    });
  }, 60_000);

  test('a model of the project without an answer fails with the reason', async () => {
    on.world.model.reply(() => ({ text: '', finish: 'length' }));
    await writeFile(join(folder, 'ratchet.json'), JSON.stringify({ model: 'fake/policy' }));
    const { code, out } = await ratchet('doctor');
    await rm(join(folder, 'ratchet.json'));
    on.world.reset();
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}model fake\/policy answers: .*limit of tokens/m);
  }, 60_000);

  test('calls each model once', async () => {
    on.world.model.reply(({ body }) =>
      body.model === 'policy' ? { text: 'ok' } : { status: 404, raw: '{"error":{"message":"no such model"}}' },
    );
    await writeFile(join(folder, 'ratchet.json'), '{"model":"fake/policy","proposer":"fake/absent"}');
    const { code, out } = await ratchet('doctor');
    await rm(join(folder, 'ratchet.json'));
    const called = on.world.model.requests.map(({ body }) => body.model);
    on.world.reset();
    expect(called.sort()).toEqual(['absent', 'policy']);
    expect(out).toMatch(/^ok {4}model fake\/policy answers: in/m);
    expect(out).toMatch(/^FAIL {2}model fake\/absent answers: .*no such model/m);
    expect(out).not.toMatch(/rollout|max_failure_rate/);
    expect(code).toBe(1);
  }, 60_000);

  test('fails where a deployment names a model that has ended', async () => {
    expect((await ratchet('doctor')).out).toMatch(/^ok {4}models in use stay$/m);
    const { api } = on.service;
    await api.call('PUT', '/api/v1/admin/provider-keys/groq', { api_key: 'gsk-own' });
    const policy = { provider: 'local', model: 'local' };
    const fallbacks = { models: [{ provider: 'groq', model: 'gemma2-9b-it' }] };
    const source = { messages: [{ role: 'system', content: 'Answer.' }], policy };
    const id = await deploy(on.service, { name: 'ended', source, fallbacks });
    await built(on.service, id);
    const { code, out } = await ratchet('doctor', '--json');
    const check = JSON.parse(out).find(({ name }: { name: string }) => name === 'models in use stay');
    await api.client.deployments.handle(id).delete();
    expect(check).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^groq\/gemma2-9b-it of deployment ended retired on 2025-10-08/),
    });
    expect(code).toBe(1);
  }, 60_000);
});

describe('doctor --model', () => {
  const refuse = (message: string) => ({ status: 400, raw: JSON.stringify({ error: { message } }) });

  test('says what a model takes, what it does not, and what the check cost', async () => {
    on.world.model.reply(({ body }) => {
      if ('temperature' in body)
        return refuse("Unsupported parameter: 'temperature' is not supported with this model.");
      return 'tools' in body ? refuse('tools are not supported') : { text: '{"ok": true}' };
    });
    const { code, out } = await ratchet('doctor', '--model', 'fake/odd');
    const calls = on.world.model.requests.length;
    const checks = JSON.parse((await ratchet('doctor', '--model', 'fake/odd', '--json')).out) as { name: string }[];
    on.world.reset();
    expect(code).toBe(0);
    expect(out).toMatch(/^ok {4}model fake\/odd answers: in/m);
    for (const part of [
      'a limit of tokens',
      'a system message',
      'stream',
      'usage in a stream',
      'JSON by a schema',
      'any JSON object',
    ])
      expect(out).toMatch(new RegExp(`^yes +${part}`, 'm'));
    for (const part of ['tools', 'temperature 0', 'a known price'])
      expect(out).toMatch(new RegExp(`^no +${part} .*\\.$`, 'm'));
    expect(out).toMatch(/^Cost of this check: cost unknown$/m);
    // One for the answer, six for the parts, one without the temperature.
    expect(calls).toBe(8);
    expect(checks).toContainEqual({ name: 'model fake/odd answers', ok: true, detail: expect.any(String) });
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: 'model fake/odd takes tools',
        ok: false,
        optional: true,
        remedy: expect.any(String),
      }),
    );
  }, 60_000);

  test('fails where no answer comes, after one call', async () => {
    on.world.model.reply(() => ({ status: 404, raw: '{"error":{"message":"no such model"}}' }));
    const { code, out } = await ratchet('doctor', '--model', 'fake/absent');
    const calls = on.world.model.requests.length;
    on.world.reset();
    expect([code, calls]).toEqual([1, 1]);
    expect(out).toMatch(/^FAIL {2}model fake\/absent answers: 404: no such model\. Check/m);
    expect(out).toMatch(/^Cost of this check: \$0\.0000$/m);
  }, 60_000);
});

test('watch of a failed evaluation, graph job or deployment ends with 1 and its error', async () => {
  on.world.model.reply(() => ({ status: 404, raw: '{"error":{"message":"no such model"}}' }));
  const policy = { provider: 'fake', model: 'policy' };
  const { proposer: _, initial_prompt: candidate, ...rows } = on.world.job(5) as Record<string, object>;
  const messages = [{ role: 'system', content: 'x' }];
  const gate = { container_url: 'http://127.0.0.1:9', seeds: [0], min_reward: 1, preflight: false };
  const created = await Promise.all([
    on.service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', { app_id: 'x', ...rows, candidate }),
    on.service.api.call<{ job_id: string }>('POST', '/api/graphgen/jobs', {
      dataset: graphDataset(12),
      policy_model: 'policy',
      policy_provider: 'fake',
      rollout_budget: 50,
    }),
    on.service.api.call<{ id: string }>('POST', '/api/harbor/deployments', {
      name: 'refused',
      source: { messages, policy },
      gate,
    }),
  ]);
  const ids = created.map((job) => ('job_id' in job ? job.job_id : job.id));
  const watched = await Promise.all(ids.map((id) => ratchet('watch', id)));
  on.world.reset();
  expect(watched.map(({ code }) => code)).toEqual([1, 1, 1]);
  for (const { out, err } of watched) {
    expect(JSON.parse(out)).toMatchObject({ status: 'failed' });
    expect(err).not.toMatch(/^\s+at /m);
  }
}, 60_000);

test('eval and optimize read a promptfooconfig.yaml', async () => {
  const tests = on.world.rows(12).map(({ question, answer }) => ({
    vars: { question },
    assert: [{ type: 'equals', value: answer }],
  }));
  const prompts = [
    JSON.stringify([
      { role: 'system', content: rowsBaseline },
      { role: 'user', content: '{{question}}' },
    ]),
  ];
  const config = { prompts, providers: ['fake:policy'], tests };
  await mkdir(join(folder, 'foo'));
  await writeFile(join(folder, 'foo/promptfooconfig.yaml'), JSON.stringify(config));
  const data = ['--data', 'foo/promptfooconfig.yaml'];
  const evaluated = await ratchet('eval', ...data);
  expect(evaluated).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Mean reward 0\.000 on 12 rows \(unseen rows: 0\.000 to 0\.265\)$/m),
  });
  const more = ['--proposer', 'fake/proposer', '--budget', '100', '--json'];
  const { code, out } = await ratchet('optimize', ...data, ...more, '--out', 'foo/best.json');
  expect({ code, best: JSON.parse(out).best_reward }).toEqual({ code: 0, best: 1 });

  const python = { ...config, defaultTest: { assert: [{ type: 'python', value: 'True' }] } };
  await writeFile(join(folder, 'foo/promptfooconfig.yaml'), JSON.stringify(python));
  expect(await ratchet('eval', ...data)).toMatchObject({ code: 2, err: expect.stringContaining('python') });
}, 60_000);

test('eval says how far its judge agrees with the labels', async () => {
  const scorer = { type: 'rubric', criteria: '- good (1): The answer is good.', provider: 'fake', model: 'judge' };
  await writeFile(join(folder, 'judge.json'), JSON.stringify(scorer));
  on.world.model.reply(({ body }) => {
    const scored = JSON.stringify({ criteria: [{ name: 'good', reason: 'because', score: 1 }] });
    return { text: body.model === 'judge' ? scored : 'no label' };
  });
  const { out, err } = await ratchet('eval', ...task, '--prompt', 'prompt.txt', '--scorer', 'judge.json');
  on.world.reset();
  const line = /^Judge: agrees with the labels on 0\.000 of 40 outputs .*, no better than chance$/m;
  expect({ out, err }).toMatchObject({ out: expect.stringMatching(line) });
}, 60_000);

test.each([
  ['{"modle":"local"}', /modle: unknown field; did you mean `model`/],
  ['{"budget":0}', /budget /],
])(
  'a ratchet.json of %s is refused with the field',
  async (text, message) => {
    await writeFile(join(folder, 'ratchet.json'), text);
    const { code, err } = await ratchet('eval', '--prompt', 'prompt.txt');
    await rm(join(folder, 'ratchet.json'));
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
  },
  60_000,
);

test('a deployment takes no pause, resume or cancel', async () => {
  const id = `dep_${'0'.repeat(32)}`;
  const refused = await Promise.all(['pause', 'resume', 'cancel'].map((name) => ratchet(name, id)));
  expect(refused.map(({ code, err }) => [code, /deployment, which takes no/.test(err)])).toEqual([
    [2, true],
    [2, true],
    [2, true],
  ]);
}, 60_000);

test('--max-cost of eval is the budget of the evaluation', async () => {
  const { code, err } = await ratchet('eval', ...files40, '--model', 'local', '--max-cost', '0.5');
  expect(code).toBe(0);
  const id = /^Evaluation (\S+): http/m.exec(err)![1]!;
  const { budget } = await on.service.api.call<Evaluation>('GET', `/api/v1/offline/jobs/${id}`);
  expect(budget).toEqual({ max_cost_usd: 0.5, spent_usd: 0, reserved_usd: 0 });
}, 60_000);

describe('deploy', () => {
  const serve = (file: string, ...more: string[]) => ratchet('deploy', file, '--model', 'fake/policy', ...more);

  test('serves the prompt of a file, and prints an address that answers', async () => {
    const { code, out, err } = await serve('prompt.txt', '--name', 'cli');
    expect({ code, err }).toMatchObject({ code: 0 });
    const baseURL = /^ {2}(http\S+)$/m.exec(out)![1]!;
    const openai = new OpenAI({ baseURL, apiKey: on.service.apiKey });
    const messages = [{ role: 'user' as const, content: 'Row 1: rule 1' }];
    const { choices } = await openai.chat.completions.create({ model: 'cli', messages });
    expect(choices[0]!.message.content).toBe('No rule.');
  }, 60_000);

  test('ends with 1 if the gate refuses, with what it measured', async () => {
    const { url, behave } = await container();
    behave(() => answers.reward(0.5, 'half'));
    const gateOf = (least: number) => JSON.stringify({ container_url: url, seeds: '0-9', min_reward: least });
    const [refused, passed] = [
      await serve('prompt.txt', '--name', 'gated', '--gate', gateOf(0.9)),
      await serve('prompt.txt', '--name', 'gated', '--gate', gateOf(0.4)),
    ];
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/^ratchet: gated was not deployed/m) });
    for (const { out } of [refused, passed])
      expect(out).toMatch(/^Gate on 10 seeds.*candidate 0\.500 \(unseen rows: 0\.346 to 0\.654\)$/m);
    expect(passed.code).toBe(0);
  }, 60_000);

  test.each([
    ['no name', ['prompt.txt'], 2, '--name'],
    ['a placeholder inside a text', ['template.txt', '--name', 'x'], 2, '{{question}}'],
    ['a file that is not there', ['none.txt', '--name', 'x'], 2, 'none.txt'],
    ['an evaluation', [`evl_${'0'.repeat(32)}`, '--name', 'x'], 2, 'no session'],
    ['an unknown session', [`ses_${'0'.repeat(32)}`, '--name', 'x'], 1, '422'],
  ])(
    'with %s says what is wrong',
    async (_, args, code, message) => {
      await writeFile(join(folder, 'template.txt'), 'Answer {{question}}.');
      expect(await ratchet('deploy', ...args)).toMatchObject({ code, err: expect.stringContaining(message) });
    },
    60_000,
  );
});

test('another service than the own one gets no kept key', async () => {
  await mkdir(join(folder, '.ratchet'), { recursive: true });
  await writeFile(join(folder, '.ratchet/api-key'), on.service.apiKey);
  const { code, err } = await run(['list'], {});
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('RATCHET_API_KEY') });
}, 60_000);

describe('orgs and keys', () => {
  const as = (key: string, ...args: string[]) => run(args, { RATCHET_API_KEY: key });

  test('an organization is created with a key, which is rotated and revoked', async () => {
    const org = (await ratchet('orgs', 'create', 'Acme')).out.trim();
    expect((await ratchet('orgs', 'list')).out).toMatch(new RegExp(`^${org} .* Acme$`, 'm'));
    const created = await ratchet('keys', 'create', 'ops', '--scope', 'read', 'admin', '--org', org);
    const [key, id] = [created.out.trim(), /^key_\w+/m.exec(created.err)![0]];
    expect((await as(key, 'keys', 'list')).out).toMatch(new RegExp(`^${id} +read,admin .* ops$`, 'm'));
    const rotated = await as(key, 'keys', 'rotate', id, '--grace', '600', '--json');
    const next = JSON.parse(rotated.out) as { key: string };
    expect((await as(next.key, 'keys', 'revoke', id)).code).toBe(0);
    expect((await as(next.key, 'keys', 'list')).out).toMatch(new RegExp(`^${id} .* revoked `, 'm'));
    const denied = await as(next.key, 'orgs', 'create', 'x');
    expect([denied.code, denied.err]).toEqual([1, expect.stringContaining('403')]);
  }, 60_000);

  test('an organization is deleted only under its name', async () => {
    const org = (await ratchet('orgs', 'create', 'Gone')).out.trim();
    const remove = (...args: string[]) => ratchet('orgs', 'delete', org, ...args);
    expect((await remove()).code).toBe(2);
    const misnamed = await remove('--confirm', 'Acme');
    expect([misnamed.code, misnamed.err]).toEqual([1, expect.stringContaining('409')]);
    expect((await ratchet('orgs', 'list')).out).toMatch(new RegExp(`^${org} .* Gone$`, 'm'));
    expect(await remove('--confirm', 'Gone')).toMatchObject({ code: 0 });
    expect((await ratchet('orgs', 'list')).out).not.toMatch(new RegExp(`^${org} .* Gone$`, 'm'));
  }, 60_000);

  test('limits are set one by one, shown and removed', async () => {
    const id = /^key_\w+/m.exec((await ratchet('keys', 'create', 'limited', '--scope', 'read')).err)![0];
    const limits = (...args: string[]) => ratchet('limits', ...args, '--key', id);
    expect((await limits('set', '--requests-per-minute', '600')).out).toMatch(/^requests per minute +600/m);
    expect((await limits('show')).out).toMatch(/^requests per minute +600/m);
    expect((await limits('set', '--requests-per-minute', 'none')).out).toMatch(/^requests per minute +none/m);
    expect((await limits('set')).code).toBe(2);
  }, 60_000);

  test('a provider key is set from standard input, listed and deleted', async () => {
    const set = run(['provider-keys', 'set', 'openai'], { RATCHET_API_KEY: on.service.apiKey }, 'sk-mine\n');
    expect(await set).toMatchObject({ code: 0, out: expect.not.stringContaining('sk-mine') });
    expect((await ratchet('provider-keys', 'list')).out).toMatch(/^openai +\d{4}-/m);
    expect((await ratchet('provider-keys', 'delete', 'openai')).code).toBe(0);
    expect((await ratchet('provider-keys', 'list')).out).not.toContain('openai');
  }, 60_000);
});
