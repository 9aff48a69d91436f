import { describe, expect, test } from '@jest/globals';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { answers } from '../support/fakes/container-answers.js';
import { containersOfEachTest } from '../support/fakes/containers-of-each-test.js';
import { built, deploy } from '../support/deployments-over-http.js';
import { graphDataset } from '../support/worlds/graph.js';
import { rowsBaseline } from '../support/worlds/rows.js';
import { commandOfFile, task } from './command-of-file.js';

const { on, ratchet, run, path, written } = commandOfFile();
const container = containersOfEachTest();

describe('optimize', () => {
  test('prints split, estimate and verdict, and writes the best prompt', async () => {
    const more = ['--prompt', 'prompt.txt', '--proposer', 'fake/proposer', '--budget', '300'];
    const { code, out, err } = await ratchet('optimize', ...task, ...more);
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(err).toMatch(new RegExp(`^Ratchet \\S+ at ${on.service.url}$`, 'm'));
    expect(err).toContain('Split: 16 train, 11 evaluation, 13 held-out rows');
    expect(err).toContain('At most 300 answers');
    // The prompt does not name the labels of the rows.
    expect(err.match(/^Note: .*/gm)).toEqual([expect.stringContaining('rule-0')]);
    expect(out).toMatch(/^\+rule-\d\.$/m);
    expect(out).toMatch(/Better on 13 held-out rows: 0\.000 -> 1\.000/);
    const best = await written('best-prompt.txt');
    expect(best.startsWith(rowsBaseline)).toBe(true);
    for (let rule = 0; rule < 4; rule += 1) expect(best).toContain(`rule-${rule}.`);

    const id = /^Session (\S+): http/m.exec(err)![1]!;
    // The reward on held-out rows, as everywhere first.
    expect((await ratchet('list')).out).toMatch(new RegExp(`^${id} +completed +\\S+ \\S+ +1\\.000 `, 'm'));
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
      'runs/create': {
        run_name: 'rows.jsonl',
        tags: expect.arrayContaining([{ key: 'ratchet.status', value: status }]),
      },
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
      out: expect.stringMatching(/^b - a: \+1\.000 .* b won 40, lost 0, tied 0$/m),
    });
    expect(worse).toMatchObject({ code: 1, err: expect.stringContaining('b is worse') });
    const compared = await ratchet('compare', a!, b!, '--json');
    expect(JSON.parse(compared.out)).toMatchObject({ verdict: 'better', won: 40 });
    const three = await ratchet('compare', a!, b!, a!);
    expect(three).toMatchObject({ code: 0, out: expect.stringContaining(`${b} is better than ${a} (+1.00`) });
    expect(three.out).toContain('baseline');
    expect((await ratchet('compare', b!, a!, b!)).code).toBe(1);
  }, 180_000);

  test('goes on as its diagnosis advises, or to a total', async () => {
    const more = ['--prompt', 'prompt.txt', '--proposer', 'fake/proposer', '--budget', '90', '--out', 'part.txt'];
    const { out } = await ratchet('optimize', ...task, ...more);
    const [, before] = /^completed \(max_rollouts\): (\d+) answers/m.exec(out)!;
    const [, id] = /^Next: Extend by \d+ answers: ratchet extend (ses_\w+)$/m.exec(out)!;
    const advised = await ratchet('extend', id!, '--out', 'part.txt');
    expect(advised).toMatchObject({ code: 0, err: expect.stringMatching(/^Extend by \d+ answers\.$/m) });
    const shown = [...advised.err.matchAll(/^ +(\d+)\/\d+ answers, /gm)].map(([, answers]) => Number(answers));
    expect(shown.length).toBeGreaterThan(0);
    expect(Math.min(...shown)).toBeGreaterThan(Number(before));
    expect(advised.err).not.toContain('Note: ');
    expect(await written('part.txt')).toBe((await ratchet('export', id!)).out);

    const given = await ratchet('extend', id!, '--budget', '10');
    expect(given).toMatchObject({ code: 2, err: expect.stringMatching(/^ratchet: --budget: /m) });
  }, 120_000);

  test('prints the best prompt if it can no longer be written', async () => {
    await mkdir(path('gone'));
    on.world.model.reply(async (request) => {
      await rm(path('gone'), { recursive: true, force: true });
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
});

describe('doctor', () => {
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

  test('a model of the project without an answer fails with the reason', async () => {
    on.world.model.reply(() => ({ text: '', finish: 'length' }));
    await writeFile(path('ratchet.json'), JSON.stringify({ model: 'fake/policy' }));
    const { code, out } = await ratchet('doctor');
    await rm(path('ratchet.json'));
    on.world.reset();
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}model fake\/policy answers: .*limit of tokens/m);
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
  await mkdir(path('foo'));
  await writeFile(path('foo/promptfooconfig.yaml'), JSON.stringify(config));
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
  await writeFile(path('foo/promptfooconfig.yaml'), JSON.stringify(python));
  expect(await ratchet('eval', ...data)).toMatchObject({ code: 2, err: expect.stringContaining('python') });
}, 60_000);

test('eval says how far its judge agrees with the labels', async () => {
  const scorer = { type: 'rubric', criteria: '- good (1): The answer is good.', provider: 'fake', model: 'judge' };
  await writeFile(path('judge.json'), JSON.stringify(scorer));
  on.world.model.reply(({ body }) => {
    const scored = JSON.stringify({ criteria: [{ name: 'good', reason: 'because', score: 1 }] });
    return { text: body.model === 'judge' ? scored : 'no label' };
  });
  const { out, err } = await ratchet('eval', ...task, '--prompt', 'prompt.txt', '--scorer', 'judge.json');
  on.world.reset();
  const line = /^Judge: agrees with the labels on 0\.000 of 40 outputs .*, no better than chance$/m;
  expect({ out, err }).toMatchObject({ out: expect.stringMatching(line) });
}, 60_000);

describe('deploy', () => {
  const serve = (file: string, ...more: string[]) => ratchet('deploy', file, '--model', 'fake/policy', ...more);

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
});

describe('orgs and keys', () => {
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
