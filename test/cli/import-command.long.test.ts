import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen, type Listening } from '../support/loopback.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { startRowsWorld } from '../support/worlds/rows.js';

const root = join(import.meta.dirname, '../..');
const on = serviceOfFile(() => startRowsWorld());
let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'ratchet-import-'))));
afterAll(() => rm(folder, { recursive: true }));

function ratchet(
  args: readonly string[],
  { input = '', env = {}, cwd = folder }: { input?: string; env?: object; cwd?: string } = {},
) {
  const command = [join(root, 'dist/src/cli/ratchet.js'), ...args];
  const settings = { ...process.env, RATCHET_URL: on.service.url, RATCHET_API_KEY: on.service.apiKey, ...env };
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    const child = execFile(process.execPath, command, { cwd, env: settings }, (_error, out, err) => {
      resolve({ code: child.exitCode, out, err });
    });
    child.stdin!.end(input);
  });
}

const write = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value));
const ask = async (path: string) =>
  (
    await fetch(`${on.service.url}${path}`, { headers: { authorization: `Bearer ${on.service.apiKey}` } })
  ).json() as Promise<Record<string, unknown>>;

const definition = {
  object: 'eval',
  id: 'eval_1',
  name: 'Rules',
  testing_criteria: [
    {
      type: 'string_check',
      name: 'right',
      input: '{{sample.output_text}}',
      operation: 'eq',
      reference: '{{item.answer}}',
    },
  ],
};
const runOf = (source: object) => ({
  object: 'eval.run',
  id: 'evalrun_1',
  eval_id: 'eval_1',
  data_source: {
    type: 'completions',
    model: 'fake/policy',
    input_messages: {
      type: 'template',
      template: [
        { role: 'developer', content: 'Answer well. rule-0. rule-1. rule-2. rule-3.' },
        { role: 'user', content: '{{item.question}}' },
      ],
    },
    source,
  },
});
const lines = () => on.world.rows(12).map((item) => ({ item }));

describe('an eval', () => {
  test('becomes a data set and a folder that eval scores as it is', async () => {
    const source = { type: 'file_content', content: lines() };
    await write('saved.json', { eval: definition, rows: [], runs: [{ run: runOf(source) }] });
    const dry = await ratchet(['import', 'saved.json', '--dry-run']);
    expect(dry).toMatchObject({ code: 0, err: expect.not.stringContaining(on.service.url) });
    expect(await readdir(folder)).not.toContain('Rules');

    const { code, out } = await ratchet(['import', 'saved.json']);
    expect(code).toBe(0);
    const id = /^Data set (\S+): 12 rows$/m.exec(out)![1];
    expect(await ask(`/api/v1/datasets/${id}`)).toMatchObject({ num_rows: 12 });
    const { out: printed } = await ratchet(['eval', '--yes', '--json'], { cwd: join(folder, 'Rules') });
    expect(JSON.parse(printed)).toMatchObject({ summary: { mean_reward: 1 } });
    expect(await ratchet(['import', 'saved.json'])).toMatchObject({ code: 2, err: expect.stringContaining('--name') });
  });

  describe('of the API', () => {
    let openai: Listening;
    const asked: IncomingMessage[] = [];
    const pages: Record<string, () => unknown> = {
      '/v1/evals/eval_1': () => definition,
      '/v1/evals/eval_1/runs?limit=100&order=desc': () => ({
        object: 'list',
        data: [
          { ...runOf({}), id: 'evalrun_0', data_source: { type: 'jsonl', source: { type: 'file_id', id: 'file-0' } } },
        ],
        last_id: 'evalrun_0',
        has_more: true,
      }),
      '/v1/evals/eval_1/runs?limit=100&order=desc&after=evalrun_0': () => ({
        object: 'list',
        data: [runOf({ type: 'file_id', id: 'file-1' })],
        has_more: false,
      }),
    };
    const outputs = '/v1/evals/eval_1/runs/evalrun_1/output_items?limit=100&order=asc';
    beforeAll(async () => {
      openai = await listen(
        createServer((request, response) => {
          asked.push(request);
          const page = pages[request.url!];
          if (page && request.headers.authorization === 'Bearer sk-mine') {
            const body = page();
            return void response.end(typeof body === 'string' ? body : JSON.stringify(body));
          }
          response.statusCode = page ? 401 : 404;
          response.end(JSON.stringify({ error: { message: 'No such thing.', type: 'invalid_request_error' } }));
        }),
      );
    });
    afterAll(() => openai.close());
    const env = () => ({ OPENAI_BASE_URL: `${openai.url}/v1`, OPENAI_API_KEY: 'sk-mine' });

    test('is read with its runs, page by page, and the file of its rows', async () => {
      pages['/v1/files/file-1/content'] = () =>
        lines()
          .map((line) => JSON.stringify(line))
          .join('\n');
      const { code, out, err } = await ratchet(['import', 'openai:eval_1', '--name', 'file', '--dry-run'], {
        env: env(),
      });
      expect({ code, err }).toMatchObject({ code: 0 });
      expect(out).toContain('Rows: 12');
      expect(out).toContain('fake/policy');
      delete pages['/v1/files/file-1/content'];
    });

    test('is read with what its run put out, if the file is gone', async () => {
      pages[outputs] = () => ({
        object: 'list',
        has_more: false,
        data: lines().map(({ item }, at) => ({
          object: 'eval.run.output_item',
          id: `outputitem_${at}`,
          run_id: 'evalrun_1',
          datasource_item_id: at,
          datasource_item: item,
        })),
      });
      const { code, out } = await ratchet(['import', 'openai:eval_1', '--name', 'out', '--dry-run'], { env: env() });
      expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('Rows: 12') });
    });

    test('a refusal is told with its reason', async () => {
      const missing = await ratchet(['import', 'openai:eval_2'], { env: env() });
      expect(missing).toMatchObject({ code: 1, err: expect.stringMatching(/404 .*No such thing/) });
      const wrong = await ratchet(['import', 'openai:eval_1'], { env: { ...env(), OPENAI_API_KEY: 'sk-other' } });
      expect(wrong).toMatchObject({ code: 1, err: expect.stringMatching(/401 .*OPENAI_API_KEY/) });
      expect(wrong.err).not.toContain('sk-other');
      const none = await ratchet(['import', 'openai:eval_1'], { env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '' } });
      expect(none).toMatchObject({ code: 2, err: expect.stringContaining('OPENAI_API_KEY') });
      expect(await ratchet(['import', 'openai:pmpt_1'], { env: env() })).toMatchObject({ code: 2 });
      expect(new Set(asked.map(({ method }) => method))).toEqual(new Set(['GET']));
    });
  });
});

describe('a stored prompt', () => {
  const version = (number: string, text: string) => ({
    version: number,
    messages: [{ role: 'developer', content: text }],
    config: { model: 'fake/policy', temperature: 0 },
  });

  test('becomes deployments, a version each, of which the one in use serves; variables stay', async () => {
    await write('support.json', {
      openai_prompt_id: 'pmpt_1',
      name: 'support',
      production_version: '7',
      versions: [version('9', 'Newer: {{customer}}'), version('7', 'Help {{customer}}.')],
    });
    const { code, out, err } = await ratchet(['import', 'support.json', '--deploy', 'helper']);
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(await ask('/api/harbor/deployments/helper/prompt')).toMatchObject({
      version: 1,
      variables: ['customer'],
      provider: 'fake',
      model: 'policy',
      parameters: { temperature: 0 },
      messages: [{ role: 'system', content: 'Help {{customer}}.' }],
    });
    expect(await ask('/api/harbor/deployments/helper/prompt?version=2')).toMatchObject({
      messages: [{ content: 'Newer: {{customer}}' }],
    });
    expect(out).toContain('/helper/prompt');
    expect(JSON.parse(await readFile(join(folder, 'support/ratchet.json'), 'utf8'))).toEqual({
      prompt: 'prompt.json',
      model: 'fake/policy',
      policy: { temperature: 0 },
    });
  });

  test('from standard input; callers bring the message that is only a variable', async () => {
    const body = { model: 'fake/policy', instructions: 'Answer well. rule-1.', input: '{{question}}' };
    const { code, out } = await ratchet(['import', '-', '--name', 'piped', '--deploy', 'piped'], {
      input: JSON.stringify(body),
    });
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('/chat/completions') });
    expect(await ask('/api/harbor/deployments/piped/prompt')).toMatchObject({
      variables: [],
      messages: [{ role: 'system', content: 'Answer well. rule-1.' }],
    });
  });

  test.each<[string, object, string[], RegExp]>([
    [
      'a name that no deployment has',
      { model: 'fake/policy', instructions: 'x' },
      ['--deploy', 'a b'],
      /--deploy: a b /,
    ],
    ['no model', { instructions: 'x' }, ['--deploy', 'a'], /--deploy: .*model/],
    [
      'a parameter of a wrong type',
      { model: 'fake/policy', instructions: 'x', temperature: 'hot' },
      ['--deploy', 'a'],
      /temperature/,
    ],
    ['no text', { prompt: { id: 'pmpt_1' } }, [], /pmpt_1/],
  ])('with %s is refused before anything is written or sent', async (_, body, args, message) => {
    await write('bad.json', body);
    const { code, err } = await ratchet(['import', 'bad.json', ...args]);
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringMatching(message) });
    expect(await readdir(folder)).not.toContain('bad');
  });

  test('a provider that the service does not have is refused, and nothing is in the way of the next try', async () => {
    await write('other.json', { model: 'nowhere/m', instructions: 'x' });
    expect((await ratchet(['import', 'other.json', '--deploy', 'other'])).code).toBe(1);
    expect(await readdir(folder)).not.toContain('other');
  });
});
