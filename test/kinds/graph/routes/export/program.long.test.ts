/** run.py from an archive, with the real openai package, against a server with OpenAI's API. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import fc from 'fast-check';
import { stepPrompt, withPrompt, type Graph, type Step } from '../../../../../src/core/graphs/graph.js';
import type { Call } from '../../../../../src/core/graphs/run/run.js';
import { graphArchive, type GraphExport } from '../../../../../src/kinds/graph/routes/export/archive.js';
import { answerSchema, anyGraph, anyInput, graphWith, llm, user } from '../../../../core/graphs/cases.js';
import { startFakeModel, type FakeModel, type ModelReply, type ModelRequest } from '../../../../support/fakes/model.js';
import { listen } from '../../../../support/loopback.js';
import { withPython } from '../../../../support/python.js';
import { startDriver, type Driver } from './driver.js';
import { outcomesAt, play } from './play.js';
import { runs } from '../../../../support/runs.js';

const { python, ...able } = withPython();

const exported: GraphExport = {
  jobId: 'graph_1',
  candidateId: 'cand_1_0',
  graph: graphWith([llm('solve', { question: 'input.question' })], 'solve.answer'),
  reward: 1,
  models: ['big'],
  provider: 'openai',
  versions: {},
  rngSeed: 0,
  results: { history: [], tasks: [], cost: {} },
  candidates: async function* () {},
};

able.describe('run.py', () => {
  let model: FakeModel;
  let folder: string;
  const folders: string[] = [];
  beforeAll(async () => {
    model = await startFakeModel();
    folder = await unpacked(exported.graph);
  });
  afterEach(() => {
    model.reply(() => ({}));
    model.requests.length = 0;
  });
  afterAll(async () => {
    await model.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  /** A folder with the archive of a graph in it. */
  async function unpacked(graph: Graph): Promise<string> {
    const into = mkdtempSync(join(tmpdir(), 'ratchet-run-'));
    folders.push(into);
    const archive = await graphArchive({ ...exported, graph });
    writeFileSync(join(into, 'graph.zip'), await buffer(archive.open()));
    execFileSync(python, ['-m', 'zipfile', '-e', join(into, 'graph.zip'), into]);
    return into;
  }

  interface Ran {
    status: number | null;
    stdout: string;
    stderr: string;
  }
  const environment = () => ({
    PATH: `${dirname(python)}${delimiter}${process.env['PATH']}`,
    OPENAI_API_KEY: 'key',
    OPENAI_BASE_URL: model.url,
  });
  async function command(
    file: string,
    args: string[],
    stdin = '',
    env: NodeJS.ProcessEnv = environment(),
  ): Promise<Ran> {
    const child = spawn(file, args, { env, cwd: tmpdir() });
    child.stdin.on('error', () => {}).end(stdin);
    const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [status, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
    return { status, stdout, stderr };
  }
  const run = (args: string[], stdin?: string, env?: NodeJS.ProcessEnv, of = folder) =>
    command(python, [join(of, 'run.py'), ...args], stdin, env);
  const failed = (reason: string) => ({ status: 1, stdout: '', stderr: `run.py: ${reason}\n` });
  const question = '{"question": "Why? é😀"}';

  test('runs by the commands of the README', async () => {
    model.reply(({ body }) => ({ text: `So: ${body.messages[0]!.content}` }));
    const odd = await unpacked(graphWith([llm('solve', { q: "input.what's" })], 'solve.answer', ["what's"]));
    const readme = readFileSync(join(odd, 'README.md'), 'utf8');
    const [, shell] = /```sh\n(.*?)```/s.exec(readme)!;
    const lines = shell!.split('\n').filter((line) => line.includes('python run.py'));
    expect(lines).toHaveLength(2);
    const [, names, call] = /`(from run import [^`]*)`[^`]*`([^`]*)`/.exec(readme)!;
    const code = `${names}\nprint('"' + ${call!.replace('{…}', `{"what's": "…"}`)} + '"')`;
    const asked = { status: 0, stdout: '"So: Do it. …"\n', stderr: '' };
    for (const line of [...lines, `python -c ${quotedForShell(code)}`])
      expect(await command('sh', ['-c', `cd ${odd} && ${line}`])).toEqual(asked);
    const body = { model: 'big', messages: user('Do it. …') };
    expect(model.requests.map((request) => request.body)).toEqual([body, body, body]);
    expect(model.requests[0]!.headers.authorization).toBe('Bearer key');
  });

  test('takes a file, and calls the given model at the given address', async () => {
    model.reply(({ body }) => ({ text: `So: ${body.messages[0]!.content}` }));
    const file = join(folder, 'input.json');
    writeFileSync(file, `\ufeff${question}`);
    const nowhere = { ...environment(), OPENAI_BASE_URL: 'http://127.0.0.1:9' };
    const ran = await run([file, '--model', 'other', '--base-url', model.url], '', nowhere);
    expect(ran).toEqual({ status: 0, stdout: '"So: Do it. Why? é😀"\n', stderr: '' });
    expect(model.requests.map(({ body }) => body)).toEqual([{ model: 'other', messages: user('Do it. Why? é😀') }]);
  });

  test('reports the failed step and its reason without waiting for another', async () => {
    const slow = llm('slow', { q: 'input.question' }, { messages: user('Slowly: {{q}}') });
    const both: Step = { id: 'both', type: 'vote', of: ['slow', 'solve'], by: 'majority' };
    const of = await unpacked(graphWith([slow, exported.graph.steps[0]!, both], 'both'));
    const refusal = { status: 401, raw: '{"error": {"message": "wrong key"}}' };
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    model.reply(async ({ body }) => {
      if (!body.messages[0]!.content.startsWith('Slowly')) return asked.then(() => refusal);
      isAsked();
      return new Promise(() => {});
    });
    const { status, stdout, stderr } = await run(['-'], question, undefined, of);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^run\.py: step "solve": big: .*401.*wrong key.*\n$/);
    expect(model.requests).toHaveLength(2);
  });

  test('rejects invalid arguments before any call', async () => {
    const usage = async (args: string[], stdin?: string, of?: string) => {
      const { status, stdout, stderr } = await run(args, stdin, undefined, of);
      expect([status, stdout]).toEqual([2, '']);
      return stderr;
    };
    expect(await usage([])).toContain('expected an input with question: a file, - or --text');
    expect(await usage(['-', '--text', 'x'])).toContain('expected an input with question');
    expect(await usage(['-'], '{')).toContain('cannot read the input: ');
    expect(await usage(['nowhere.json'])).toContain("No such file or directory: 'nowhere.json'");
    const two = await unpacked(graphWith([llm('solve', { a: 'input.a', b: 'input.b' })], 'solve', ['a', 'b']));
    expect(await usage(['--text', 'x'], '', two)).toContain(
      '--text requires a graph with one input field; this graph has a, b',
    );
    rmSync(join(two, 'graph.json'));
    expect(await usage(['-'], '{}', two)).toContain('cannot read graph.json: ');
    const { OPENAI_API_KEY: _, ...keyless } = environment();
    expect(await run(['-'], question, keyless)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('OPENAI_API_KEY'),
    });
    expect(model.requests).toEqual([]);
  });

  test('reports a missing openai package', async () => {
    const args = ['-S', '-E', join(folder, 'run.py'), '-'];
    const reason = 'the openai package is not installed: pip install openai';
    expect(await command('python3', args, question)).toEqual(failed(reason));
  });

  describe('with the openai package', () => {
    let driver: Driver;
    beforeAll(() => {
      driver = startDriver(python);
    });
    afterAll(() => driver.close());
    const ran = (graph: Graph, url = model.url, input = question) => driver.overHttp(named(graph), input, url);
    const failure = (reason: string) => ({ failed: { step: 'solve', reason } });

    test('repeats an unusable answer up to the limit', async () => {
      const strict = graphWith([llm('solve', { q: 'input.question' }, { output: answerSchema, tries: 2 })], 'solve');
      model.reply(({ n }) => ({ text: n === 1 ? 'It is 4.' : '```json\n{"answer": "4", "sure": 1.0}\n```' }));
      expect(await ran(strict)).toEqual({ value: '{"answer":"4","sure":1}' });
      model.reply(() => ({ text: '{}' }));
      const problem = 'the answer does not match the schema: the answer lacks "answer"';
      expect(await ran(strict)).toEqual(failure(`no usable answer in 2 tries: ${problem}`));
      expect(model.requests).toHaveLength(4);
    });

    const headers = { 'retry-after': '0' };
    const busy = { status: 429, raw: '{"error": {"message": "slow down"}}', headers };

    test('repeats a call to a busy or broken server, three times at most', async () => {
      const once = graphWith([llm('solve', { q: 'input.question' }, { tries: 1 })], 'solve.answer');
      model.reply(({ n }) => ([{ cutAfter: 0 }, busy, { text: 'yes' }] satisfies ModelReply[])[n - 1]!);
      expect(await ran(once)).toEqual({ value: '"yes"' });
      model.reply(({ n }) => (n % 2 === 0 ? busy : { status: 500, raw: 'oops', headers }));
      expect(await ran(once)).toEqual(failure(expect.stringMatching(/^big: .*slow down/) as unknown as string));
      expect(model.requests).toHaveLength(6);
    });

    test('does not repeat a permanently refused call, or a call with a wait of minutes', async () => {
      model.reply(() => ({ status: 404, raw: '{"error": {"message": "no such model"}}' }));
      expect(await ran(exported.graph)).toEqual(
        failure(expect.stringMatching(/^big: .*no such model/) as unknown as string),
      );
      model.reply(() => ({ ...busy, headers: { 'retry-after': '61' } }));
      expect(await ran(exported.graph)).toEqual(
        failure(expect.stringMatching(/^big: .*slow down/) as unknown as string),
      );
      expect(model.requests).toHaveLength(2);
    });

    test('repeats a call without a usable answer', async () => {
      const replies: ModelReply[] = [{ raw: '{"choices": []}' }, { raw: '{"choices"' }, { text: 'yes' }];
      model.reply(({ n }) => replies[n - 1]!);
      expect(await ran(exported.graph)).toEqual({ value: '"yes"' });
    });

    test('joins the parts of a text', async () => {
      const message = {
        role: 'assistant',
        content: [{ type: 'thinking' }, { type: 'text', text: 'a' }, { type: 'text', text: 'b' }],
      };
      model.reply(() => ({ fields: { choices: [{ index: 0, message, finish_reason: 'stop' }] } }));
      expect(await ran(exported.graph)).toEqual({ value: '"ab"' });
    });

    test('treats an answer without a text as empty', async () => {
      const message = { role: 'assistant', content: null };
      model.reply(() => ({ fields: { choices: [{ index: 0, message, finish_reason: 'length' }] } }));
      expect(await ran(exported.graph)).toEqual({ value: '""' });
    });

    test('ends slow calls, including slow streams of bytes', async () => {
      let calls = 0;
      const trickle = createServer((_, response) => {
        calls += 1;
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 20);
        response.once('close', () => clearInterval(timer));
      });
      const { url, close } = await listen(trickle);
      try {
        const slow = llm('solve', { q: 'input.question' }, { timeoutS: 0.4 });
        expect(await ran(graphWith([slow], 'solve'), url)).toEqual(failure('big gave no answer within 0.4 s'));
        expect(calls).toBe(3);
      } finally {
        await close();
      }
    });

    test('reports an unreachable server and its address', async () => {
      const { url, close } = await listen(createServer());
      await close();
      const reason = expect.stringMatching(/^the connection to http:\S+ failed: /) as unknown as string;
      expect(await ran(exported.graph, url)).toEqual(failure(reason));
    });

    test('makes independent calls at once', async () => {
      const each = { ...llm('each', { q: 'input.question' }), type: 'map', messages: user('{{q}} {{item}}') } as const;
      const steps: Step[] = [
        llm('one', { q: 'input.question' }),
        { ...each, over: 'input.items', as: 'item' },
        { id: 'all', type: 'transform', op: 'object', inputs: { one: 'one.answer', each: 'each' } },
      ];
      let all = () => {};
      const arrived = new Promise<void>((resolve) => (all = resolve));
      model.reply(async ({ body, n }) => {
        if (n === 4) all();
        await arrived;
        return { text: body.messages[0]!.content.toUpperCase() };
      });
      const input = '{"items": ["a", 2.0, {"k": null}], "question": "q"}';
      const answers = '[{"answer":"Q A"},{"answer":"Q 2"},{"answer":"Q {\\"K\\":NULL}"}]';
      expect(await ran(graphWith(steps, 'all', ['question', 'items']), model.url, input)).toEqual({
        value: `{"one":"DO IT. Q","each":${answers}}`,
      });
    });

    test('agrees with the interpreter on answers over HTTP', async () => {
      const texts = [
        'yes',
        ' YES',
        'no {{a}}',
        '1',
        '["yes", "x"]',
        '```json\n{"answer": "é\\ud83d\\ude00"}\n```',
        '{"sure": 1}',
      ];
      const answer = ({ messages }: Pick<Call, 'messages'>) => {
        const hash = createHash('sha256').update(JSON.stringify(messages)).digest();
        return texts[hash.readUInt32LE() % texts.length]!;
      };
      model.reply(({ body }: ModelRequest) => ({ text: answer(body as unknown as Call) }));
      const ends = { done: 0, failed: 0 };
      const property = fc.asyncProperty(anyGraph, anyInput, async (graph, input) => {
        const of = named(graph);
        const given = JSON.stringify(input);
        const { outcome } = play(of, given, answer);
        const theirs = await driver.overHttp(of, given, model.url);
        if ('value' in theirs) {
          expect(outcome).toEqual({ status: 'done', value: JSON.parse(theirs.value) });
          ends.done++;
          return;
        }
        const { step, reason } = theirs.failed;
        expect(outcome.status).toBe('failed');
        const possible = step === null ? [outcome] : outcomesAt(of, step, given, answer);
        expect(possible).toContainEqual({ status: 'failed', step, reason });
        ends.failed++;
      });
      await fc.assert(property, { numRuns: runs(20, 40) });
      expect(ends.done).toBeGreaterThan(runs(0, 5));
      expect(ends.failed).toBeGreaterThan(0);
      // Shrinking a failure would take many more runs.
    }, 240_000);
  });
});

/** The graph with a model per step and ample time-outs; tests of time-outs set their own. */
function named(graph: Graph): Graph {
  const steps = graph.steps.map((step) => {
    const { model = 'big', timeoutS = 60 } = stepPrompt(step) ?? {};
    return withPrompt(step, { model: model ?? 'big', timeoutS: timeoutS === 0.5 ? 60 : timeoutS });
  });
  return { ...graph, steps };
}

function quotedForShell(code: string): string {
  return `'${code.replaceAll("'", `'\\''`)}'`;
}
