import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeGitHub, type FakeGitHub } from '../support/fakes/github.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { startCommand } from '../support/servers/command.js';
import { rowsBaseline, startRowsWorld } from '../support/worlds/rows.js';

// The script of the GitHub Action, in a checkout of a pull request, on the service.

const on = serviceOfFile(() => startRowsWorld());
const script = join(import.meta.dirname, '../../action/main.mjs');
const token = 'ghs_test';
/** A prompt that answers this many of the four kinds of rows. */
const solving = (rules: number) =>
  `${rowsBaseline} ${Array.from({ length: rules }, (_, rule) => `rule-${rule}.`).join(' ')}\n`;

let github: FakeGitHub;
let folder: string;
let origin: string;
let work: string;
beforeAll(async () => {
  github = await startFakeGitHub(token);
  folder = mkdtempSync(join(tmpdir(), 'ratchet-action-'));
  origin = join(folder, 'origin');
  git(folder, 'init', '-q', '-b', 'main', origin);
  const rows = on.world.rows(20).map((row) => JSON.stringify(row));
  writeFileSync(join(origin, 'rows.jsonl'), rows.join('\n'));
  writeProject(origin, 'fake/policy');
  writeFileSync(join(origin, 'prompt.txt'), solving(2));
  commit(origin);
  // Another commit, so that a checkout of depth 1 lacks the base.
  git(origin, 'checkout', '-q', '-b', 'change');
  commit(origin);
}, 60_000);
afterAll(async () => {
  await github.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  github.comments.length = 0;
  github.calls.length = 0;
  work = mkdtempSync(join(folder, 'work-'));
  git(folder, 'clone', '-q', '--depth=1', '--branch=change', `file://${origin}`, work);
});

function git(cwd: string, ...args: string[]): string {
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  return execFileSync('git', [...author, ...args], { cwd, encoding: 'utf8' }).trim();
}

function commit(cwd: string): void {
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-q', '--allow-empty', '-m', 'c');
}

function writeProject(cwd: string, model: string): void {
  const project = { data: 'rows.jsonl', prompt: 'prompt.txt', input: 'question', expected: 'answer', model };
  writeFileSync(join(cwd, 'ratchet.json'), JSON.stringify(project));
}

/** Runs the action as GitHub does for pull request 7. */
async function act(inputs: Record<string, string> = {}) {
  const file = (name: string, content = '') => {
    writeFileSync(join(work, '..', `${name}-of-step`), content);
    return join(work, '..', `${name}-of-step`);
  };
  const env = {
    GITHUB_EVENT_PATH: file('event', JSON.stringify({ pull_request: { number: 7 } })),
    GITHUB_STEP_SUMMARY: file('summary'),
    GITHUB_OUTPUT: file('output'),
    GITHUB_API_URL: github.url,
    GITHUB_REPOSITORY: 'acme/app',
    CHECK_AGAINST: git(origin, 'rev-parse', 'main'),
    CHECK_COMMENT: 'true',
    CHECK_TOKEN: token,
    RATCHET_URL: on.service.url,
    RATCHET_API_KEY: on.service.apiKey,
    ...inputs,
  };
  const { ended, out, err } = startCommand([process.execPath, script], work, env);
  const code = await ended;
  const lines = readFileSync(env.GITHUB_OUTPUT, 'utf8').trim().split('\n');
  const outputs = Object.fromEntries(lines.map((line) => line.split('=', 2)));
  return { code, out: out(), err: err(), outputs, summary: readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8') };
}

test('the check does not see the token of GitHub', async () => {
  writeFileSync(join(work, 'prompt.txt'), solving(4));
  const seen = join(work, '..', 'seen');
  const spy = join(work, '..', 'spy.cjs');
  writeFileSync(
    spy,
    `if (process.argv[2] === 'check') require('fs').writeFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env));`,
  );
  expect((await act({ NODE_OPTIONS: `--require=${spy}` })).code).toBe(0);
  expect(JSON.parse(readFileSync(seen, 'utf8'))).toMatchObject({ RATCHET_URL: on.service.url });
  expect(readFileSync(seen, 'utf8')).not.toContain(token);
}, 60_000);

const evaluations = async () =>
  ((await on.service.api.call('GET', '/api/v1/offline/jobs?limit=100')) as { data: unknown[] }).data.length;

const plain = (html: string) => html.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

test('a better prompt passes; the next run renews its comment, and one that is worse is refused', async () => {
  writeFileSync(join(work, 'prompt.txt'), solving(4));
  const better = await act();
  expect([better.code, better.err]).toEqual([0, expect.any(String)]);
  expect(better.outputs).toEqual({ passed: 'true', verdict: 'better', difference: '0.5', 'mean-reward': '1' });
  expect(better.summary).toContain('| mean reward | 0.500 | **1.000** |');
  expect(github.comments).toEqual([{ id: 1, body: `<!-- ratchet check: prompt.txt -->\n${better.summary}` }]);

  writeFileSync(join(work, 'prompt.txt'), solving(0));
  const worse = await act();
  expect([worse.code, worse.outputs]).toEqual([
    1,
    { passed: 'false', verdict: 'worse', difference: '-0.5', 'mean-reward': '0' },
  ]);
  expect(worse.summary).toContain('10 rows got worse');
  const listed = [
    ...worse.summary.matchAll(/^\| (\d+) \| <code>(.*)<\/code> \| <code>(.*)<\/code> \| 1\.000 .* \| 0\.000 /gm),
  ];
  const rows = on.world.rows(20) as { question: string; answer: string }[];
  expect(listed).toHaveLength(10);
  for (const [, row, question, answer] of listed)
    expect({ row, question: plain(question!), answer: plain(answer!) }).toEqual({ row, ...rows[Number(row)]! });
  expect(github.comments.map(({ body }) => body.includes(worse.summary))).toEqual([true]);
}, 60_000);

test('the gate holds what it is told to', async () => {
  writeFileSync(join(work, 'prompt.txt'), solving(3));
  // 5 of 20 rows gained: 0.25, and 0.04 at the low end.
  const cases = [
    [{ CHECK_MIN_IMPROVEMENT: '0.01' }, 0],
    [{ CHECK_MIN_IMPROVEMENT: '0.1' }, 1],
    [{ CHECK_MIN_REWARD: '0.75' }, 0],
    [{ CHECK_MIN_REWARD: '0.8' }, 1],
  ] as const;
  for (const [inputs, code] of cases) expect([inputs, (await act(inputs)).code]).toEqual([inputs, code]);
}, 120_000);

test('what did not change is not evaluated; a change of the model alone is', async () => {
  const before = await evaluations();
  const same = await act();
  expect([same.code, same.outputs]).toMatchObject([0, { passed: 'true', verdict: '', 'mean-reward': '' }]);
  expect(await evaluations()).toBe(before);
  writeProject(work, 'fake/other');
  expect((await act()).outputs).toMatchObject({ verdict: 'inconclusive', difference: '0' });
  expect(await evaluations()).toBe(before + 2);
}, 60_000);

test('a new prompt is held to the least reward alone', async () => {
  cpSync(join(work, 'prompt.txt'), join(work, 'new.txt'));
  const inputs = { CHECK_PROMPT: 'new.txt', CHECK_MIN_IMPROVEMENT: '0.5' };
  expect(await act(inputs)).toMatchObject({ code: 0, outputs: { verdict: '', 'mean-reward': '0.5' } });
  expect(await act({ ...inputs, CHECK_MIN_REWARD: '0.6' })).toMatchObject({ code: 1, outputs: { passed: 'false' } });
}, 60_000);

test('a comment that GitHub refuses is a warning; a commit that origin lacks is an error', async () => {
  writeFileSync(join(work, 'prompt.txt'), solving(4));
  const refused = await act({ CHECK_TOKEN: 'other' });
  expect([refused.code, refused.out]).toEqual([0, expect.stringContaining('::warning::')]);
  const unknown = await act({ CHECK_AGAINST: 'no-such-branch' });
  expect([unknown.code, unknown.out]).toEqual([2, expect.stringContaining('::error::')]);
}, 60_000);
