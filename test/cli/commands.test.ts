import { describe, expect, test } from '@jest/globals';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import OpenAI from 'openai';
import { someOf } from '../support/environment.js';
import { answers } from '../support/fakes/container-answers.js';
import { containersOfEachTest } from '../support/fakes/containers-of-each-test.js';
import { gate } from '../support/gate.js';
import type { Evaluation } from '../support/jobs-over-http.js';
import { until } from '../support/until.js';
import { commandOfFile, files40, task } from './command-of-file.js';

const { on, built, ratchet, run, path, written } = commandOfFile();
const container = containersOfEachTest();

test('try prints the answers to a few rows, and starts no run', async () => {
  const { code, out } = await ratchet('try', ...task, '--prompt', 'prompt.txt', '--rows', '3');
  expect(code).toBe(0);
  expect(out.match(/^\d+ +Row \d+: rule \d +needs rule-\d\. +No rule\. +0\.000$/gm)).toHaveLength(3);
  const json = await ratchet('try', ...task, '--prompt', 'prompt.txt', '--json');
  expect((JSON.parse(json.out) as { rows: unknown[] }).rows).toHaveLength(5);
  const many = await ratchet('try', ...task, '--prompt', 'prompt.txt', '--rows', '21');
  expect(many).toMatchObject({ code: 2, err: expect.stringContaining('rows') });
});

describe('optimize', () => {
  test.each(
    someOf(
      [
        { card: 'A', refund: 'B', password: 'C' },
        { card: 'team_green', refund: 'team_blue', password: 'team_red' },
        { card: 'north', refund: 'south', password: 'west' },
      ],
      1,
    ),
  )(
    'of 30 rows without a key gives a better prompt and a verdict: %j',
    async (teams: Record<string, string>) => {
      const ends = 'was promised,never arrived,is wrong,does not work,is missing,was lost,is late,came twice';
      const rows = [...ends.split(','), 'was changed', 'is needed today'].flatMap((end) =>
        Object.entries(teams).map(([subject, expected]) => ({ input: `My ${subject} ${end}.`, expected })),
      );
      await writeFile(path('teams.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
      await writeFile(path('teams.txt'), `Name the team.\n\nLabels: ${Object.values(teams).join(', ')}\n`);
      const files = ['--data', 'teams.jsonl', '--prompt', 'teams.txt', '--out', 'better.txt', '--heldout', '6'];
      const calls = on.world.model.requests.length;
      const { code, out, err } = await built('optimize', ...files);
      expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('6 held-out rows') });
      expect(out).toMatch(
        /^Better on 6 held-out rows: 0\.\d+ -> 1\.000 \(unseen rows: 0\.541 to 1\.000\); 95 %: difference \+0\.\d+ to /m,
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

    const [edits, ofFiles, measured] = await Promise.all([
      ratchet('diff', id),
      ratchet('diff', 'prompt.txt', 'b.json', '--json'),
      ratchet('diff', id, '--without', '1', '--json'),
    ]);
    expect(edits.out).toMatch(/^1 {2}\+ rule-\d\. — #\d+, from rows? \d+.*; \+\d+ rows?, −0$/m);
    const { edits: local } = JSON.parse(ofFiles.out) as { edits: { kind: string; after: string }[] };
    expect(local.map(({ kind }) => kind)).toContain('added');
    expect(JSON.parse(measured.out)).toMatchObject({ verdict: expect.any(String), seeds_compared: expect.any(Number) });

    const [all, fixed, shown] = await Promise.all([
      ratchet('rows', id, '--json'),
      ratchet('rows', id, '--group', 'fixed', '--csv'),
      ratchet('rows', id, '--group', 'fixed', '--limit', '1'),
    ]);
    const found = (JSON.parse(all.out) as { row: number; group: string; answer: string }[]).filter(
      ({ group }) => group === 'fixed',
    );
    expect(fixed.out.trimEnd().split('\r\n')).toHaveLength(found.length + 1);
    expect(shown.out).toMatch(new RegExp(`^ROW .*\\n${found[0]!.row} +fixed +Row ${found[0]!.row}: rule \\d`));
  }, 60_000);

  test('names the option of what only the service knows', async () => {
    const { code, err } = await ratchet('optimize', ...files40, '--prompt', 'prompt.txt', '--model', 'nobody/x');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/^ratchet: --model: .*nobody/m) });
    expect(err.match(/not found/g)).toHaveLength(1);
  }, 60_000);

  test.each<[string, string[], number, string]>([
    ['a file that is not there', ['optimize', '--data', 'none.jsonl', '--prompt', 'prompt.txt'], 2, 'none.jsonl'],
    ['a budget that is no number', ['optimize', '--budget', 'many'], 2, 'whole number'],
    ['an unknown job', ['results', 'x'], 2, 'no id of a job'],
    [
      'a column that is not there',
      ['eval', '--data', 'rows.jsonl', '--prompt', 'prompt.txt'],
      2,
      '"question", "answer"',
    ],
    ['no data', ['optimize', '--prompt', 'prompt.txt'], 2, '--data'],
    ['no prompt', ['optimize', '--data', 'rows.jsonl'], 2, '--prompt'],
    ['a file of another kind', ['optimize', '--data', 'prompt.txt', '--prompt', 'prompt.txt'], 2, '.jsonl'],
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
    expect(out).toMatch(/^ok {4}model local answers/m);
    expect(out).toMatch(/^ok {4}the same seed scores alike: 1\.000 and 1\.000/m);
    // The fake container calls no model.
    expect(out).toMatch(/^FAIL {2}the model is called through inference_url: 0 calls/m);
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

  test('calls each model once', async () => {
    on.world.model.reply(({ body }) =>
      body.model === 'policy' ? { text: 'ok' } : { status: 404, raw: '{"error":{"message":"no such model"}}' },
    );
    await writeFile(path('ratchet.json'), '{"model":"fake/policy","proposer":"fake/absent"}');
    const { code, out } = await ratchet('doctor');
    await rm(path('ratchet.json'));
    const called = on.world.model.requests.map(({ body }) => body.model);
    on.world.reset();
    expect(called.sort()).toEqual(['absent', 'policy']);
    expect(out).toMatch(/^ok {4}model fake\/policy answers: in/m);
    expect(out).toMatch(/^FAIL {2}model fake\/absent answers: .*no such model/m);
    expect(out).not.toMatch(/rollout|max_failure_rate/);
    expect(code).toBe(1);
  }, 60_000);
});

describe('doctor --model', () => {
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

test.each([
  ['{"modle":"local"}', /modle: unknown field; did you mean `model`/],
  ['{"budget":0}', /budget /],
])(
  'a ratchet.json of %s is refused with the field',
  async (text, message) => {
    await writeFile(path('ratchet.json'), text);
    const { code, err } = await ratchet('eval', '--prompt', 'prompt.txt');
    await rm(path('ratchet.json'));
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
  const { code, err } = await ratchet(
    'eval',
    ...files40,
    '--prompt',
    'prompt.txt',
    '--model',
    'local',
    '--max-cost',
    '0.5',
  );
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

  test.each<[string, string[], number, string]>([
    ['a placeholder inside a text', ['template.txt', '--name', 'x'], 2, '{{question}}'],
    ['an unknown session', [`ses_${'0'.repeat(32)}`, '--name', 'x'], 1, '422'],
    ['no name', ['prompt.txt'], 2, '--name'],
    ['a file that is not there', ['none.txt', '--name', 'x'], 2, 'none.txt'],
    ['an evaluation', [`evl_${'0'.repeat(32)}`, '--name', 'x'], 2, 'no session'],
  ])(
    'with %s says what is wrong',
    async (_, args, code, message) => {
      await writeFile(path('template.txt'), 'Answer {{question}}.');
      expect(await ratchet('deploy', ...args)).toMatchObject({ code, err: expect.stringContaining(message) });
    },
    60_000,
  );
});

test('another service than the own one gets no kept key', async () => {
  await mkdir(path('.ratchet'), { recursive: true });
  await writeFile(path('.ratchet/api-key'), on.service.apiKey);
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
});
