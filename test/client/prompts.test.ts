import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ratchet, type PromptOptions } from '../../src/client/index.js';
import { Prompt, type PromptData } from '../../src/client/prompt.js';
import { deploymentsOfFile } from '../kinds/deployment/routes/support.js';
import { pureRuns } from '../support/runs.js';
import { until } from '../support/until.js';
import { startFaultProxy, type Fault, type FaultProxy } from './fault-proxy.js';

// Invariants: a known prompt is answered at once; one question per prompt is under way; an outage
// changes nothing for who knows a prompt; a refusal is thrown, at the latest by the second call.

const it = deploymentsOfFile();
let proxy: FaultProxy;
let folder: string;
let skippedMs = 0;
beforeAll(async () => {
  proxy = await startFaultProxy(() => it.url);
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + skippedMs);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await proxy.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratchet-prompts-'));
  proxy.requests.length = 0;
});
afterEach(async () => {
  proxy.plan([]);
  await rm(folder, { recursive: true });
});

const connect = (apiKey = it.http.key) => new Ratchet({ url: proxy.url, apiKey, maxRetries: 0 });
const outage = (fault: Fault = 'reset') => proxy.plan(Array.from({ length: 1_000 }, () => fault));
const skip = (seconds: number) => (skippedMs += seconds * 1_000);
const asked = () => proxy.requests.length;
const put = (name: string, label: string, version: number) =>
  it.http.call('PUT', `/api/harbor/deployments/${name}/labels/${label}`, { version });
const fallback = { messages: [{ role: 'system' as const, content: 'Fall back on {{what}}.' }], model: 'm' };
/** Asks until the version is the expected one. */
const untilVersion = (client: Ratchet, name: string, version: number, options: PromptOptions = {}) =>
  until(`${name} is version ${version}`, async () => (await client.prompt(name, options)).version === version);

describe('a prompt', () => {
  test('is taken from memory while it is fresh; then the old one at once, and the new one later', async () => {
    await it.deploy('cached', 'one');
    const client = connect();
    const first = await client.prompt('cached');
    expect([first.version, first.source, first.model, first.messages()]).toEqual([
      1,
      'service',
      'gpt-4o-mini',
      [{ role: 'system', content: 'one' }],
    ]);
    await it.deploy('cached', 'two');
    skip(59);
    expect([(await client.prompt('cached')).version, asked()]).toEqual([1, 1]);
    skip(1);
    expect((await client.prompt('cached')).version).toBe(1);
    await untilVersion(client, 'cached', 2);
    expect(asked()).toBe(2);
    skip(60);
    await client.prompt('cached');
    await until('it is asked again', () => asked() === 3);
    expect(proxy.requests[2]!.headers['if-none-match']).toMatch(/^"/);
    expect([(await client.prompt('cached')).version, asked()]).toEqual([2, 3]);
  });

  test('is asked for once by all who want it at once, and apart by label and version', async () => {
    await it.deploy('herd', 'one');
    await it.deploy('herd', 'two');
    await put('herd', 'staging', 1);
    const client = connect();
    const all = (options?: PromptOptions) =>
      Promise.all(Array.from({ length: 50 }, async () => (await client.prompt('herd', options)).version));
    expect(new Set(await all())).toEqual(new Set([2]));
    expect(asked()).toBe(1);
    skip(60);
    await all();
    await until('it is asked again', () => asked() === 2);
    expect(new Set(await all({ label: 'staging' }))).toEqual(new Set([1]));
    expect(new Set(await all({ version: 2 }))).toEqual(new Set([2]));
    expect(asked()).toBe(4);
    await expect(client.prompt('herd', { label: 'staging', version: 1 })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });

  test('with ttl 0 is asked for each time', async () => {
    await it.deploy('each', 'one');
    const client = connect();
    expect((await client.prompt('each', { ttl: 0 })).version).toBe(1);
    await it.deploy('each', 'two');
    expect((await client.prompt('each', { ttl: 0 })).version).toBe(2);
    outage();
    expect((await client.prompt('each', { ttl: 0 })).version).toBe(2);
  });
});

describe('in an outage', () => {
  test.each<Fault>(['reset', 'refuse'])('of the kind %j the last known one serves, until it ends', async (fault) => {
    const name = `outage-${JSON.stringify(fault).length}`;
    await it.deploy(name, 'one');
    const client = connect();
    await client.prompt(name);
    outage(fault);
    for (const seconds of [60, 3_600, 86_400]) {
      skip(seconds);
      const before = asked();
      for (let call = 0; call < 20; call += 1) expect((await client.prompt(name)).version).toBe(1);
      // The question before may fail only now: then the next one waits for its pause.
      await until('it was asked', async () => (await client.prompt(name)).version === 1 && asked() > before);
      // Once, and then not for a while.
      expect(asked()).toBe(before + 1);
      await until('the question has failed', () => proxy.open() === 0);
    }
    await it.deploy(name, 'two');
    proxy.plan([]);
    skip(5);
    await untilVersion(client, name, 2);
  });

  test('a new process has the prompt of the folder, else the fallback, else the error', async () => {
    await it.deploy('kept', 'one');
    expect((await connect().prompt('kept', { folder })).source).toBe('service');
    const [file] = await readdir(folder);
    expect([await readdir(folder), (await stat(join(folder, file!))).mode & 0o777]).toEqual([[file], 0o600]);
    outage();
    const restarted = connect();
    expect(await restarted.prompt('kept', { folder })).toMatchObject({ version: 1, source: 'file' });
    expect(await connect().prompt('kept', { fallback })).toMatchObject({ version: null, source: 'fallback' });
    await expect(connect().prompt('kept')).rejects.toMatchObject({ code: 'unreachable' });
    outage({ cut: 20 });
    expect((await connect().prompt('kept', { fallback })).source).toBe('fallback');
    outage();
    await expect(connect().prompt('other', { folder })).rejects.toMatchObject({ code: 'unreachable' });
    proxy.plan([]);
    skip(5);
    await until('it is confirmed', async () => (await restarted.prompt('kept', { folder })).source === 'service');
    expect(proxy.requests.at(-1)!.headers['if-none-match']).toMatch(/^"/);
  });

  test('a file that is cut, or of another service, is no prompt, which a warning says', async () => {
    await it.deploy('cut', 'one');
    await connect().prompt('cut', { folder });
    const [file] = await readdir(folder);
    const path = join(folder, file!);
    const text = await readFile(path, 'utf8');
    outage();
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    for (const content of [text.slice(0, -10), '{}', text.replace(proxy.url, 'http://other'), 'null']) {
      await writeFile(path, content);
      expect((await connect().prompt('cut', { folder, fallback })).source).toBe('fallback');
    }
    expect(warn).toHaveBeenCalledTimes(4);
    warn.mockRestore();
  });

  test('a folder that cannot be written is a warning, and the prompt is there', async () => {
    await it.deploy('unkept', 'one');
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    await writeFile(join(folder, 'file'), '');
    expect((await connect().prompt('unkept', { folder: join(folder, 'file') })).version).toBe(1);
    expect(warn).toHaveBeenCalled();
    warn.mockRestore();
  });
});

describe('a refusal', () => {
  test('is thrown if nothing is known, whatever else is at hand', async () => {
    await it.deploy('refused', 'one');
    for (const [client, name, status] of [
      [connect('wrong'), 'refused', 401],
      [connect(), 'nobody', 404],
      [connect(), 'refused@nothing', 404],
    ] as const)
      await expect(client.prompt(name, { fallback, folder })).rejects.toMatchObject({ status });
  });

  test('is thrown by the call after the one that met it, until the prompt is back', async () => {
    await it.deploy('lost', 'one');
    await put('lost', 'staging', 1);
    const client = connect();
    const get = () => client.prompt('lost', { label: 'staging', fallback });
    await get();
    await it.http.call('DELETE', '/api/harbor/deployments/lost/labels/staging');
    skip(60);
    expect((await get()).version).toBe(1);
    await until('it is thrown', () =>
      get().then(
        () => false,
        (error: { status: number }) => error.status === 404,
      ),
    );
    await expect(get()).rejects.toMatchObject({ status: 404 });
    outage();
    expect((await get()).version).toBe(1);
    proxy.plan([]);
    await put('lost', 'staging', 1);
    expect((await get()).version).toBe(1);
  });
});

describe('messages', () => {
  const data = (messages: PromptData['messages'], more: Partial<PromptData> = {}): PromptData => ({
    name: 'n',
    version: 1,
    deployment_id: 'dep_1',
    snapshot_id: 'snap_1',
    labels: [],
    messages,
    demonstrations: null,
    variables: [],
    provider: 'p',
    model: 'm',
    parameters: { temperature: 0 },
    ...more,
  });

  test('have the values of their placeholders, which are not read again', () => {
    const value = fc.oneof(fc.string(), fc.constantFrom('{{b}}', '$&', '$1', '{{a}}'), fc.integer());
    fc.assert(
      fc.property(value, value, (a, b) => {
        const prompt = new Prompt(
          'n',
          data([{ role: 'user', content: '{{a}}|{{ b }}|{{c}}|{{}}|{"x": {{a}}}' }], { variables: ['a', 'b'] }),
          'service',
        );
        expect(prompt.messages({ a, b })[0]!.content).toBe(`${a}|${b}|{{c}}|{{}}|{"x": ${a}}`);
      }),
      { numRuns: pureRuns() },
    );
  });

  test('leave demonstrations as they are, and name what is missing', () => {
    const messages = ['{{a}}', '{{a}}', '{{a}}'].map((content) => ({ role: 'user' as const, content }));
    const prompt = new Prompt(
      'n',
      data(messages, { variables: ['a'], demonstrations: { start: 1, end: 2 } }),
      'service',
    );
    expect(prompt.messages({ a: 'x' }).map(({ content }) => content)).toEqual(['x', '{{a}}', 'x']);
    expect(() => prompt.messages({ b: 'x' })).toThrow(expect.objectContaining({ code: 'missing_variable' }));
    expect(() => prompt.messages(Object.create({ a: 'x' }) as Record<string, string>)).toThrow();
  });

  test('belong to the caller, who may change them', () => {
    const prompt = new Prompt('n', data([{ role: 'user', content: 'x' }]), 'service');
    prompt.messages()[0]!.content = 'changed';
    prompt.parameters['temperature'] = 1;
    expect(prompt.request({}, [{ role: 'user', content: 'y' }])).toEqual({
      model: 'm',
      temperature: 0,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'user', content: 'y' },
      ],
    });
  });

  test('of a fallback have the placeholders in its text', () => {
    const prompt = new Prompt('n', fallback, 'fallback');
    expect([prompt.variables, prompt.messages({ what: 1 })[0]!.content]).toEqual([['what'], 'Fall back on 1.']);
  });
});
