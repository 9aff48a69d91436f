import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Mistakes and dry runs, with no service: nothing may be started for them.

const program = join(import.meta.dirname, '../../dist/src/cli/ratchet.js');
let folder: string;
const teams = ['red', 'green', 'blue'];
const rowOf = (row: number) => ({ text: `Message ${row}`, label: teams[row % 3] });
const linesOf = (count: number) => Array.from({ length: count }, (_, row) => JSON.stringify(rowOf(row)));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratchet-mistakes-'));
  const files: Record<string, string> = {
    'rows.jsonl': linesOf(40).join('\n'),
    'few.jsonl': linesOf(6).join('\n'),
    'one.jsonl': linesOf(1).join('\n'),
    'broken.jsonl': [...linesOf(2), '{"text": ', ...linesOf(1)].join('\n'),
    'broken.csv': 'text,label\na,red\nb,green,blue\n',
    // Line 2 is blank, so that the rows and the lines differ.
    'unlabelled.jsonl': [linesOf(1)[0], '', ...linesOf(3), '{"text":"Message","label":null}'].join('\n'),
    'prompt.txt': 'Name the team.\n',
    'column.txt': 'Name the team of {{tex}}.\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true }));

function ratchet(args: readonly string[], cwd = folder) {
  const env = { ...process.env, RATCHET_DATA_DIR: join(folder, 'data'), RATCHET_URL: '', PORT: '0', DATABASE_URL: '' };
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    const child = execFile(process.execPath, [program, ...args], { cwd, env }, (_error, out, err) => {
      resolve({ code: child.exitCode, out, err });
    });
    child.stdin!.end();
  });
}

const columns = ['--input', 'text', '--expected', 'label'];
const files = ['--data', 'rows.jsonl', '--prompt', 'prompt.txt'];
const task = [...files, ...columns];

describe('a mistake is named by its option and ends with 2, and nothing is started for', () => {
  test.each<[string, string[], RegExp]>([
    ['a wrong --input', ['optimize', ...task, '--input', 'txt'], /^ratchet: --input: .*did you mean `text`/],
    ['a wrong --expected', ['eval', ...task, '--expected', 'labl'], /: --expected: .*`label`/],
    ['a wrong scorer', ['optimize', ...task, '--scorer', 'exat'], /: --scorer: .*did you mean `exact`/],
    ['a wrong type of scorer', ['eval', ...task, '--scorer', '{"type":"exat"}'], /: --scorer: type .*`exact`/],
    ['a model without its provider', ['optimize', ...task, '--model', 'gpt-4o-mini'], /--model .*openai\/gpt-4o-mini/],
    ['an unknown model without one', ['eval', ...task, '--model', 'mine'], /--model mine: write provider\/model/],
    [
      'a proposer without one',
      ['optimize', ...task, '--proposer', 'claude-3-5-haiku-latest'],
      /--proposer .*anthropic\//,
    ],
    ['a small budget', ['optimize', ...task, '--budget', '5'], /^ratchet: --budget: .*\d/],
    ['a broken row', ['optimize', '--data', 'broken.jsonl', '--prompt', 'prompt.txt'], /^ratchet: broken\.jsonl:3 /],
    ['a broken row of CSV', ['eval', '--data', 'broken.csv', '--prompt', 'prompt.txt'], /^ratchet: broken\.csv:3 /],
    [
      'a row without an expected value',
      ['eval', '--data', 'unlabelled.jsonl', '--prompt', 'prompt.txt', ...columns],
      /^ratchet: unlabelled\.jsonl:6 "label" is missing$/m,
    ],
    ['no file of rows', ['optimize', '--data', 'none.jsonl', '--prompt', 'prompt.txt'], /--data: .*none\.jsonl/],
    [
      'one row',
      ['optimize', '--data', 'one.jsonl', '--prompt', 'prompt.txt', ...columns],
      /^ratchet: --data: .*one row/,
    ],
    [
      'a column of the prompt',
      ['eval', '--data', 'rows.jsonl', '--prompt', 'column.txt', ...columns],
      /: --prompt: .*`text`/,
    ],
    ['an output in no folder', ['optimize', ...task, '--out', 'none/x.txt'], /^ratchet: --out none\/x\.txt /],
    ['an output that is a folder', ['optimize', ...task, '--out', '.'], /^ratchet: --out \. /],
    ['an export to no folder', ['export', `ses_${'0'.repeat(32)}`, '--out', 'none/x'], /^ratchet: --out none\/x /],
    [
      'an address as a parameter',
      ['eval', ...task, '--param', 'base_url=http://x'],
      /--param base_url.*LOCAL_BASE_URL/,
    ],
    ['a key as a parameter', ['optimize', ...task, '--model', 'openai/x', '--param', 'api_key=k'], /OPENAI_API_KEY/],
    ['a model as a parameter', ['eval', ...task, '--param', 'model=x'], /--param model: .*--model/],
    ['a parameter without a value', ['eval', ...task, '--param', 'seed'], /--param seed: /],
    [
      'a limit with no price',
      ['optimize', ...task, '--model', 'ollama/x', '--max-cost', '1'],
      /^ratchet: --max-cost: /,
    ],
    [
      'an evaluation with no price',
      ['eval', ...task, '--model', 'ollama/x', '--max-cost', '1'],
      /^ratchet: --max-cost: /,
    ],
    [
      'an evaluation above its limit',
      ['eval', ...task, '--model', 'openai/gpt-4o', '--max-cost', '0.0001'],
      /^ratchet: --max-cost: \$0\.0001 is below/,
    ],
    ['a long name', ['eval', ...task, '--name', 'x'.repeat(2_000)], /^ratchet: --name: /],
  ])('%s', async (_, args, message) => {
    const { code, out, err } = await ratchet(args);
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringMatching(message) });
    expect(err).not.toMatch(/^\s+at |POST|policy_optimization/m);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  test.each([
    ['{"policy":{"api_key":"k"}}', /policy\.api_key/],
    ['{"policy":{"model":"x"}}', /policy\.model .*--model/],
  ])('%s in ratchet.json', async (text, message) => {
    const own = await mkdtemp(join(folder, 'project-'));
    await writeFile(join(own, 'ratchet.json'), text);
    const { code, err } = await ratchet(
      ['eval', '--data', '../rows.jsonl', '--prompt', '../prompt.txt', ...columns],
      own,
    );
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
  });

  test('init in a folder that is a file', async () => {
    const { code, err } = await ratchet(['init', 'prompt.txt/sample']);
    expect(code).toBe(2);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});

describe('--dry-run', () => {
  const dryRun = async (args: string[], cwd = folder) => {
    const { code, out, err } = await ratchet([...args, '--dry-run', '--json'], cwd);
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(existsSync(join(folder, 'data'))).toBe(false);
    return JSON.parse(out) as {
      estimate: { rollouts: number; cost_usd: { low: number; high: number } | null };
      split?: { train: number[]; evaluation: number[]; heldout: number[] };
      warnings: string[];
      first_request: { provider: string; row: number; body: Record<string, unknown> };
    };
  };

  test('of a search has its split, estimate and first request', async () => {
    const {
      estimate,
      split,
      first_request: first,
    } = await dryRun(['optimize', ...task, '--model', 'openai/gpt-4o-mini']);
    expect([split!.train.length, split!.evaluation.length, split!.heldout.length]).toEqual([16, 11, 13]);
    expect(estimate.rollouts).toBe(200);
    expect(estimate.cost_usd!.low).toBeGreaterThan(0);
    expect(first).toEqual({
      provider: 'openai',
      row: split!.evaluation[0],
      body: {
        model: 'gpt-4o-mini',
        messages: [
          { role: 'system', content: 'Name the team.' },
          { role: 'user', content: `Message ${split!.evaluation[0]}` },
        ],
      },
    });
    expect(readdirSync(folder)).not.toContain('best-prompt.txt');
  });

  test('has the parameters of options, which win over those of ratchet.json', async () => {
    const own = await mkdtemp(join(folder, 'project-'));
    const policy = { temperature: 1, top_p: 0.1, max_tokens: 9 };
    const project = { input: 'text', expected: 'label', policy };
    const files = ['--data', '../rows.jsonl', '--prompt', '../prompt.txt'];
    await writeFile(join(own, 'ratchet.json'), JSON.stringify(project));
    const bodyOf = async (...args: string[]) => (await dryRun(['eval', ...files, ...args], own)).first_request.body;
    expect(await bodyOf()).toMatchObject(policy);
    const params = ['--temperature', '0', '--param', 'top_p=0.5', 'stop=["\\n"]', 'user=me'];
    const reasoning = await bodyOf('--model', 'openai/o3-mini', '--max-tokens', '5', ...params);
    expect(reasoning).toMatchObject({ temperature: 0, top_p: 0.5, stop: ['\n'], user: 'me', max_tokens: 5 });
  });

  test('--max-cost bounds the estimate of a search', async () => {
    const { estimate } = await dryRun(['optimize', ...task, '--model', 'openai/gpt-4o', '--max-cost', '0.02']);
    expect(estimate.cost_usd!.high).toBe(0.02);
  });

  test('--max-tokens lowers the estimate', async () => {
    const model = ['--model', 'openai/gpt-4o'];
    const [all, short] = [
      await dryRun(['eval', ...task, ...model]),
      await dryRun(['eval', ...task, ...model, '--max-tokens', '5']),
    ];
    expect(short.estimate.cost_usd!.high).toBeLessThan(all.estimate.cost_usd!.high);
  });

  test('of few rows says from how many on some are held out, in the words of a command', async () => {
    const few = ['--data', 'few.jsonl', '--prompt', 'prompt.txt', ...columns];
    const { warnings, split } = await dryRun(['optimize', ...few]);
    expect(split!.heldout).toEqual([]);
    expect(warnings.join()).toMatch(/Add rows: from 10 .* 30 /);
    expect(warnings.join()).not.toContain('train_seeds');
  });

  test("of a file of promptfoo uses nothing of the folder's ratchet.json", async () => {
    const own = await mkdtemp(join(folder, 'project-'));
    await mkdir(join(own, 'foo'));
    const tests = ['a', 'b'].map((q) => ({ vars: { q }, assert: [{ type: 'equals', value: q }] }));
    const config = { prompts: ['Say {{q}}'], providers: ['openai:gpt-4o-mini'], tests };
    await writeFile(join(own, 'foo/promptfooconfig.yaml'), JSON.stringify(config));
    await writeFile(join(own, 'ratchet.json'), JSON.stringify({ data: 'x', expected: 'label', policy: { top_p: 1 } }));
    const { first_request: first } = await dryRun(['eval', '--data', 'foo/promptfooconfig.yaml'], own);
    expect(first.body).toEqual({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say a' }] });
  });
});

describe("files of a change that is not the user's", () => {
  let work: string;
  const outside = () => join(folder, 'rows.jsonl');
  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'ratchet-change-'));
    await mkdir(join(work, 'inner'));
    await writeFile(join(work, 'inner', 'rows.jsonl'), linesOf(40).join('\n'));
    await writeFile(join(work, 'prompt.txt'), 'Name the team.\n');
    await writeFile(join(work, '.hidden.jsonl'), linesOf(40).join('\n'));
    await symlink(outside(), join(work, 'link.jsonl'));
    await symlink(folder, join(work, 'linked'));
    await symlink(join(folder, 'prompt.txt'), join(work, 'link.txt'));
    const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: work });
    await git('init', '-q');
    await git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'a');
  });
  afterAll(() => rm(work, { recursive: true }));
  const columns = ['--input', 'text', '--expected', 'label', '--dry-run'];

  test.each<[string, object]>([
    ['an absolute path', { data: '/etc/passwd.jsonl' }],
    ['a path above', { data: '../rows.jsonl' }],
    ['a link', { data: 'link.jsonl' }],
    ['a link of a folder', { data: 'linked/rows.jsonl' }],
    ['a hidden file', { data: '.hidden.jsonl' }],
    ['a prompt outside', { data: 'inner/rows.jsonl', prompt: '/etc/hostname' }],
    ['a linked prompt', { data: 'inner/rows.jsonl', prompt: 'link.txt' }],
    ['a file of the process', { data: 'inner/rows.jsonl', prompt: '/proc/self/environ' }],
  ])(
    'ratchet.json names no file outside of its folder: %s',
    async (_, project) => {
      await writeFile(join(work, 'ratchet.json'), JSON.stringify({ prompt: 'prompt.txt', ...project }));
      const results = await Promise.all([
        ratchet(['eval', ...columns], work),
        ratchet(['check', '--against', 'HEAD', ...columns], work),
      ]);
      for (const { code, err } of results)
        expect([code, err]).toEqual([2, expect.stringMatching(/ratchet.json names| is a link to /)]);
    },
    60_000,
  );

  test('a file inside, and one that the user names outside, are read', async () => {
    await writeFile(join(work, 'ratchet.json'), '{"prompt": "prompt.txt", "data": "inner/rows.jsonl"}');
    const option = ['--data', outside()];
    const results = await Promise.all(
      [['eval'], ['eval', ...option], ['check', '--against', 'HEAD', ...option]].map((args) =>
        ratchet([...args, ...columns], work),
      ),
    );
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  }, 60_000);

  test('check follows no link of the change out of the folder, also by an option', async () => {
    await rm(join(work, 'ratchet.json'), { force: true });
    const check = (data: string, prompt: string) =>
      ratchet(['check', '--against', 'HEAD', '--data', data, '--prompt', prompt, ...columns], work);
    for (const [data, prompt] of [
      ['link.jsonl', 'prompt.txt'],
      ['linked/rows.jsonl', 'prompt.txt'],
      ['inner/rows.jsonl', 'link.txt'],
    ] as const) {
      const { code, err } = await check(data, prompt);
      expect([code, err]).toEqual([2, expect.stringMatching(/ is a link to a file outside /)]);
    }
  }, 60_000);
});
