import { afterAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { childFlags } from '../../../src/scorers/client/children.js';
import { createScorerClient, type ScorerAnswer } from '../../../src/scorers/client/client.js';
import { createSandbox, javascriptProblem } from '../../../src/scorers/client/javascript.js';
import { heldMs, maxHeldMs } from '../../support/held.js';

const egress = { mode: 'dev' as const, allowlist: [] };
const client = createScorerClient({ egress, javascriptOrgs: ['*'] });
const hasty = createScorerClient({
  egress,
  javascriptOrgs: ['*'],
  sandbox: createSandbox({ timeMs: 200, processes: 1 }),
});
const input = { output: 'Paris', row: { n: 2, list: [1, 2] }, expected: 'paris' };
const { signal } = new AbortController();
const run = (code: string, by = client): Promise<ScorerAnswer> =>
  by.runFunction({ orgId: 'org_1', code }, input, signal);
afterAll(() => Promise.all([client.close(), hasty.close()]));

test.each<[string, number, string | null]>([
  ['() => 1', 1, null],
  ['(output, row, expected) => output.toLowerCase() === expected', 1, null],
  ['(output, row, expected) => output.toLowerCase() === expected ? 0.5 : 0;', 0.5, null],
  ['function score(output, row) { return { reward: row.n / row.list.length / 4, feedback: "half" }; }', 0.25, 'half'],
  ['// A file.\nconst half = 0.5;\nexport default (output) => ({ reward: half, feedback: output });\n', 0.5, 'Paris'],
  ['export default function score() { return 0.75 } // the end', 0.75, null],
  ['() => 1 // the end', 1, null],
])('%s', async (code, reward, feedback) => {
  expect(await run(code)).toEqual({ ok: true, reward, feedback, details: null });
  expect(javascriptProblem(code)).toBeNull();
});

describe('faults', () => {
  test.each<[string, string]>([
    ['() => 2', 'scorer_reward_invalid'],
    ['() => NaN', 'scorer_reward_invalid'],
    ['() => "1"', 'scorer_reward_invalid'],
    ['() => {}', 'scorer_reward_invalid'],
    ['() => ({ reward: { deep: 1 } })', 'scorer_reward_invalid'],
    ['() => { throw new Error("mine") }', 'scorer_error'],
    ['() => { throw null }', 'scorer_error'],
    ['() => { throw { get message() { throw 1 } } }', 'scorer_error'],
    ['() => nothing.there', 'scorer_error'],
    ['async () => 1', 'scorer_error'],
    ['7', 'scorer_error'],
    ['() => { const r = {}; r.reward = r; return r }', 'scorer_error'],
  ])('%s: %s', async (code, expected) => {
    expect(await run(code)).toMatchObject({ ok: false, code: expected, infrastructure: false });
  });

  test('the message of an error is that of the function', async () => {
    expect(await run('() => { throw new Error("mine") }')).toMatchObject({ message: expect.stringContaining('mine') });
  });
});

describe('without Node', () => {
  test.each([
    'typeof process',
    'typeof require',
    'typeof module',
    'typeof fetch',
    'typeof setTimeout',
    'typeof console',
    'typeof Buffer',
    'typeof ArrayBuffer',
    'typeof Float64Array',
    'typeof WebAssembly',
  ])('%s', async (expression) => {
    expect(await run(`() => (${expression}) === "undefined" ? 1 : 0`)).toMatchObject({ ok: true, reward: 1 });
  });

  test.each([
    '() => { this.constructor.constructor("return process")(); return 1 }',
    '(output, row) => { row.constructor.constructor("return process")(); return 1 }',
    '() => { (async () => {}).constructor("return process")(); return 1 }',
    '() => { eval("1"); return 1 }',
  ])('does not evaluate text: %s', async (code) => {
    expect(await run(code)).toMatchObject({ ok: false, code: 'scorer_error' });
  });

  test('one call leaves nothing for the next', async () => {
    const code = '() => { const seen = globalThis.seen; globalThis.seen = true; return seen ? 0 : 1 }';
    expect([await run(code), await run(code)]).toMatchObject([{ reward: 1 }, { reward: 1 }]);
  });
});

describe('limits', () => {
  test.each([
    '() => { for (;;); }',
    'const endless = (() => { for (;;); })();\nexport default () => endless',
    '() => ({ get reward() { for (;;); } })',
    '() => { throw { get message() { for (;;); } } }',
    '() => { (async () => { await null; for (;;); })(); return 1 }',
  ])('time: %s', async (code) => {
    expect(await run(code, hasty)).toMatchObject({ ok: false, code: 'scorer_timeout', infrastructure: false });
  });

  test('memory', async () => {
    const code = '() => { const all = []; for (;;) all.push(new Array(1000).fill(all.length)); }';
    expect(await run(code)).toMatchObject({ ok: false, code: 'scorer_out_of_memory', infrastructure: false });
  });

  test('stack', async () => {
    expect(await run('function deep() { return deep() + 1 }')).toMatchObject({ ok: false, code: 'scorer_error' });
  });

  test('a stopped job ends the process, and one that waits for a process', async () => {
    const aborter = new AbortController();
    const patient = createSandbox({ timeMs: 60_000, processes: 1 });
    const endless = [1, 2].map(() => patient.run('() => { for (;;); }', input, aborter.signal));
    // The first has its process by now.
    await new Promise(setImmediate);
    aborter.abort(new Error('stopped'));
    const ends = await Promise.allSettled(endless);
    expect(ends.map((end) => end.status === 'rejected' && (end.reason as Error).message)).toEqual([
      'stopped',
      'stopped',
    ]);
    expect(await patient.run('() => 1', input, signal)).toEqual({ ok: true, value: 1 });
  });

  test('more calls than processes all end', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => run('() => 1', hasty)));
    expect(all.every(({ ok }) => ok)).toBe(true);
  });
});

describe('outside of its context', () => {
  const outside = (then: string) => `(o, r, expected) => { const p = import('node:fs'); p.catch(() => 0); ${then} }`;
  test.each([
    'return p.constructor.constructor("return process")() ? 1 : 0',
    'return p.constructor.constructor("return 1")()',
  ])('no text becomes code: %s', async (then) => {
    expect(await run(outside(then))).toMatchObject({ ok: false, code: 'scorer_error' });
  });

  test('an import that fails later ends no other call', async () => {
    const code = "() => { import('node:fs'); return 1 }";
    const other = run('() => 0.5');
    for (let n = 0; n < 3; n += 1) await run(code);
    expect(await other).toMatchObject({ reward: 0.5 });
    expect(await run('() => 0.5')).toMatchObject({ reward: 0.5 });
  });

  test.each(['process.env', 'fs.readFileSync', 'child_process.spawnSync', 'worker_threads.Worker'])(
    '%s is empty or denied in the process',
    (what) => {
      const [module, name] = what.split('.') as [string, string];
      const code =
        module === 'process'
          ? 'const { NODE_CHANNEL_FD, NODE_CHANNEL_SERIALIZATION_MODE, ...env } = process.env; console.log(Object.keys(env).join() || "denied")'
          : `try { new (require("node:${module}").${name})("/proc/self/environ"); console.log("done") } catch (e) { console.log(e.code === "ERR_ACCESS_DENIED" ? "denied" : e) }`;
      const { stdout } = spawnSync(process.execPath, [...childFlags(64), '-e', code], { env: {}, encoding: 'utf8' });
      expect(stdout.trim()).toBe('denied');
    },
  );
});

describe('what comes back', () => {
  test.each<[string, object]>([
    ["() => ({ reward: 1, feedback: 'x'.repeat(3e7) })", { ok: true, reward: 1 }],
    ["() => ({ reward: 1, details: { a: 'x'.repeat(3e7) } })", { ok: false, code: 'scorer_error' }],
    ["() => 'x'.repeat(3e7)", { ok: false, code: 'scorer_error' }],
    ["() => 'x'.repeat(5e8)", { ok: false }],
    ["() => { throw new Error('x'.repeat(3e7)) }", { ok: false, code: 'scorer_error' }],
    ["() => ({ reward: 'x'.repeat(5e5) })", { ok: false, code: 'scorer_reward_invalid' }],
  ])('%s', async (code, expected) => {
    expect(await run(code)).toMatchObject(expected);
    expect(await run('() => 1')).toMatchObject({ ok: true });
  });
});

test.each([' ', ';', ' ;\n'])('code that ends in many of %j is read in linear time', async (text) => {
  const code = `() => 1${text.repeat(100_000)}//`;
  expect(await heldMs(() => javascriptProblem(code))).toBeLessThan(maxHeldMs);
});

test('where the operator does not name the organization, nothing runs', async () => {
  const strict = createScorerClient({ egress, javascriptOrgs: ['default', 'org_2'] });
  expect(await run('() => 1', strict)).toMatchObject({ ok: false, code: 'scorer_not_allowed' });
  const named = createScorerClient({ egress, javascriptOrgs: ['org_2', 'org_1'] });
  expect(await run('() => 1', named)).toMatchObject({ ok: true });
  await Promise.all([strict.close(), named.close()]);
});

test.each(['(', 'const a = 1', '() => 1; 2', 'export default'])('%s is no function', (code) => {
  expect(javascriptProblem(code)).not.toBeNull();
});
