import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { graphSchema } from '../../../../../src/kinds/graph/contract/graph.js';
import type { Graph } from '../../../../../src/core/graphs/graph.js';
import { graphFromJson } from '../../../../../src/core/graphs/json.js';
import { graphMermaid } from '../../../../../src/core/graphs/mermaid.js';
import { graphText } from '../../../../../src/core/graphs/text.js';
import { graphProblems } from '../../../../../src/core/graphs/validate.js';
import {
  exportFiles,
  graphArchive,
  hashFile,
  createZip,
  type GraphExport,
  type JsonObject,
} from '../../../../../src/kinds/graph/routes/export/archive.js';
import { anyGraph, graphWith, llm, user } from '../../../../core/graphs/cases.js';
import { unzip } from '../../../../support/unzip.js';
import { withPython } from '../../../../support/python.js';
import { program } from './driver.js';

const judge = { inputs: { q: 'input.question' }, messages: user('{{q}}\n{{candidates}}') };
const graph: Graph = graphWith(
  [
    llm('solve', { question: 'input.question' }, { samples: 3, model: null }),
    llm('check', { question: 'input.question' }, { model: 'small' }),
    { id: 'best', type: 'vote', over: 'solve', by: { judge } },
    { id: 'all', type: 'transform', op: 'list', inputs: { a: 'best.answer', b: 'check.answer' } },
  ],
  'all',
);
/** The candidates, one by one, as the database returns them. */
const each = (...candidates: JsonObject[]) =>
  async function* () {
    yield* candidates;
  };
const tried = [{ candidate_id: 'cand_1_0', text: 'a\nb' }, { candidate_id: 'cand_1_4' }];
const exported: GraphExport = {
  jobId: 'graph_1',
  candidateId: 'cand_1_4',
  graph,
  reward: 0.75,
  models: ['big', 'small'],
  provider: 'openai',
  versions: { ratchet: '0.1.0', algorithm: 'gepa' },
  rngSeed: 7,
  results: {
    history: [{ generation: 0, best_reward: 0.5 }],
    tasks: [{ task_id: 't1', reward: 1 }],
    cost: { total_usd: null },
  },
  candidates: each(...tried),
};

const names = [
  'README.md',
  'run.py',
  'graph.json',
  'graph.txt',
  'graph.mmd',
  'best_prompt.json',
  'results.json',
  'candidates.jsonl',
  'manifest.json',
];
const zipped = async (of: GraphExport = exported) => buffer((await graphArchive(of)).open());
const textOf = async (name: string, of?: GraphExport) =>
  (await unzip(await zipped(of))).find((file) => file.name === name)!.text;
const jsonIn = async (name: string, of?: GraphExport) => JSON.parse(await textOf(name, of));
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const { python, ...able } = withPython();

describe('an archive', () => {
  test('has equal bytes for equal content only', async () => {
    const { etag, fileName, open } = await graphArchive(exported);
    const bytes = await buffer(open());
    expect([fileName, etag]).toEqual(['graph_1-graph.zip', expect.stringMatching(/^"[0-9a-f]{64}"$/)]);
    const again = await graphArchive({ ...exported });
    expect([again.fileName, again.etag]).toEqual([fileName, etag]);
    for (const stream of [open(), again.open()]) expect((await buffer(stream)).equals(bytes)).toBe(true);
    const variants: GraphExport[] = [
      {
        ...exported,
        graph: { ...graph, output: 'best', steps: graph.steps.filter(({ id }) => id === 'solve' || id === 'best') },
      },
      { ...exported, reward: 0.5 },
      { ...exported, models: ['small'] },
      { ...exported, provider: 'other' },
      { ...exported, rngSeed: 8 },
      { ...exported, versions: { ...exported.versions, algorithm: 'other' } },
      { ...exported, results: { ...exported.results, tasks: [] } },
      { ...exported, candidates: each() },
    ];
    const etags = await Promise.all(variants.map(async (other) => (await graphArchive(other)).etag));
    expect(new Set([etag, ...etags]).size).toBe(variants.length + 1);
  });

  test('contains no time, and has its files in order', async () => {
    const entries = await unzip(await zipped());
    expect(entries.map(({ name }) => name)).toEqual(names);
    expect(new Set(entries.map(({ date }) => date))).toEqual(new Set(['Tue Jan 01 1980']));
    expect(entries.find(({ name }) => name === 'run.py')!.text).toBe(readFileSync(program, 'utf8'));
  });

  test('its manifest has the checksum of every other file and its provenance', async () => {
    const files = await unzip(await zipped());
    expect(await jsonIn('manifest.json')).toEqual({
      job_id: 'graph_1',
      candidate_id: 'cand_1_4',
      versions: { ratchet: '0.1.0', algorithm: 'gepa' },
      rng_seed: 7,
      provider: 'openai',
      models: ['big', 'small'],
      files: files
        .filter(({ name }) => name !== 'manifest.json')
        .map(({ name, text }) => ({ name, bytes: Buffer.byteLength(text), sha256: sha256(Buffer.from(text)) })),
    });
  });

  test('names the model of every step that calls one, including a judge', async () => {
    const { steps } = await jsonIn('graph.json');
    expect(steps).toMatchObject([
      { model: 'big' },
      { model: 'small' },
      { by: { judge: { model: 'big' } } },
      { id: 'all' },
    ]);
    expect(steps[3]).not.toHaveProperty('model');
    expect(await textOf('graph.txt')).toContain('model: "big"');
  });

  test('of any graph holds the same runnable graph in each form', async () => {
    await fc.assert(
      fc.asyncProperty(anyGraph, async (found) => {
        const files = await exportFiles({ ...exported, graph: found });
        const textOf = (name: string) => String(files.find((file) => file.name === name)!.content);
        const read = graphFromJson(graphSchema.parse(JSON.parse(textOf('graph.json'))));
        expect(graphProblems(read)).toEqual([]);
        expect(textOf('graph.txt')).toBe(graphText(read));
        expect(textOf('graph.mmd')).toBe(graphMermaid(read));
        expect(JSON.stringify(read)).not.toContain('"model":null');
        const withoutModels = (text: string) => text.replace(/ +model: .*\n/g, '');
        expect(withoutModels(graphText(read))).toBe(withoutModels(graphText(found)));
      }),
    );
  });

  test('has prompts by step, results, and a line for each candidate', async () => {
    expect(await jsonIn('best_prompt.json')).toEqual({
      job_id: 'graph_1',
      candidate_id: 'cand_1_4',
      reward: 0.75,
      steps: {
        solve: { model: 'big', messages: user('Do it. {{question}}') },
        check: { model: 'small', messages: user('Do it. {{question}}') },
        best: { model: 'big', messages: judge.messages },
      },
    });
    expect(await jsonIn('results.json')).toEqual({ job_id: 'graph_1', candidate_id: 'cand_1_4', ...exported.results });
    const lines = (await textOf('candidates.jsonl')).split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual(tried);
    expect(await textOf('candidates.jsonl', { ...exported, candidates: each() })).toBe('');
  });

  test('its README has the command and the reward', async () => {
    const readme = await textOf('README.md');
    expect(readme).toContain('4 steps from an input to one output, at most 5 model calls a run');
    expect(readme).toContain(`echo '{"question":"…"}' | python run.py -`);
    expect(readme).toContain('python run.py --text "…"');
    expect(readme).toContain('best score, 0.75');
    for (const name of names.filter((name) => name !== 'README.md')) expect(readme).toContain(`\`${name}\``);
    const two = await textOf('README.md', {
      ...exported,
      reward: null,
      graph: { ...graph, inputs: ["what's", 'question'] },
    });
    expect(two).toContain(`echo '{"what'\\''s":"…","question":"…"}' | python run.py -`);
    expect(two).not.toContain('--text');
    expect(two).not.toContain('best score');
  });
});

able.describe("Python's zipfile", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ratchet-archive-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('opens an archive: intact, uncompressed, one executable', async () => {
    writeFileSync(join(folder, 'graph.zip'), await zipped());
    const script = `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps([[i.filename, oct(i.external_attr >> 16), i.compress_type, i.date_time] for i in archive.infolist()]))`;
    const found = JSON.parse(execFileSync(python, ['-c', script, join(folder, 'graph.zip')], { encoding: 'utf8' }));
    const epoch = [1980, 1, 1, 0, 0, 0];
    expect(found).toEqual(names.map((name) => [name, name === 'run.py' ? '0o100755' : '0o100644', 0, epoch]));
  });
});

test('stores files of many megabytes, in one piece or many', async () => {
  const bytes = Buffer.alloc(20_000_000, 'a line of a candidate\n');
  async function* pieces() {
    for (let from = 0; from < bytes.length; from += 70_000) yield bytes.subarray(from, from + 70_000);
  }
  const files = [await hashFile({ name: 'a', content: bytes }), await hashFile({ name: 'b', content: pieces })];
  expect(files.map(({ bytes: size, sha256: sum }) => [size, sum])).toEqual(
    Array(2).fill([bytes.length, sha256(bytes)]),
  );
  const entries = await unzip(await buffer(createZip(files)));
  expect(entries.map(({ text }) => sha256(Buffer.from(text)))).toEqual(Array(2).fill(sha256(bytes)));
});

test('breaks off if a candidate is unreadable or differs from the manifest', async () => {
  let asked = 0;
  const changing = async function* () {
    yield { candidate_id: `cand_1_${(asked += 1)}` };
  };
  const changed = await graphArchive({ ...exported, candidates: changing });
  await expect(buffer(changed.open())).rejects.toThrow('candidates.jsonl has changed');
  const failing = async function* () {
    yield* tried;
    if ((asked += 1) > 3) throw new Error('the database is gone');
  };
  const broken = await graphArchive({ ...exported, candidates: failing });
  await expect(buffer(broken.open())).rejects.toThrow('the database is gone');
});
