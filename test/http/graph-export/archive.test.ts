import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { graphSchema } from '../../../src/contracts/graph.js';
import type { Graph } from '../../../src/core/graph/graph.js';
import { graphOf } from '../../../src/core/graph/json.js';
import { graphMermaid } from '../../../src/core/graph/mermaid.js';
import { graphText } from '../../../src/core/graph/text.js';
import { graphProblems } from '../../../src/core/graph/validate.js';
import { exportFiles, graphArchive, zipOf, type GraphExport } from '../../../src/http/graph-export/archive.js';
import { anyGraph, graphWith, llm, user } from '../../core/graph/cases.js';
import { unzip } from '../../support/unzip.js';
import { noPython, program } from './driver.js';

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
  candidates: [{ candidate_id: 'cand_1_0', text: 'a\nb' }, { candidate_id: 'cand_1_4' }],
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
const textOf = (name: string, of: GraphExport = exported) =>
  exportFiles(of)
    .find((file) => file.name === name)!
    .bytes.toString();
const jsonIn = (name: string, of?: GraphExport) => JSON.parse(textOf(name, of));
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('an archive', () => {
  test('has the same bytes for the same content, and others for any other', async () => {
    const { bytes, etag, fileName } = await graphArchive(exported);
    expect(fileName).toBe('graph_1-graph.zip');
    expect(etag).toBe(`"${sha256(bytes)}"`);
    expect(await graphArchive(structuredClone(exported))).toEqual({ bytes, etag, fileName });
    const others: GraphExport[] = [
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
      { ...exported, candidates: [] },
    ];
    const etags = await Promise.all(others.map(async (other) => (await graphArchive(other)).etag));
    expect(new Set([etag, ...etags]).size).toBe(others.length + 1);
  });

  test('says no time, and holds its files in their order', async () => {
    const { bytes } = await graphArchive(exported);
    const entries = await unzip(bytes);
    expect(entries.map(({ name }) => name)).toEqual(names);
    expect(new Set(entries.map(({ date }) => date))).toEqual(new Set(['Tue Jan 01 1980']));
    expect(entries.find(({ name }) => name === 'run.py')!.text).toBe(readFileSync(program, 'utf8'));
  });

  test('has the sum of every other file in its manifest, with what it was made by', () => {
    const files = exportFiles(exported);
    expect(jsonIn('manifest.json')).toEqual({
      job_id: 'graph_1',
      candidate_id: 'cand_1_4',
      versions: { ratchet: '0.1.0', algorithm: 'gepa' },
      rng_seed: 7,
      provider: 'openai',
      models: ['big', 'small'],
      files: files
        .filter(({ name }) => name !== 'manifest.json')
        .map(({ name, bytes }) => ({ name, bytes: bytes.length, sha256: sha256(bytes) })),
    });
  });

  test('names the model of every step that asks one, a judge among them', () => {
    const { steps } = jsonIn('graph.json');
    expect(steps).toMatchObject([
      { model: 'big' },
      { model: 'small' },
      { by: { judge: { model: 'big' } } },
      { id: 'all' },
    ]);
    expect(steps[3]).not.toHaveProperty('model');
    expect(textOf('graph.txt')).toContain('model: "big"');
  });

  test('of any graph holds the same graph in each form, which can be run', () => {
    fc.assert(
      fc.property(anyGraph, (found) => {
        const of = { ...exported, graph: found };
        const read = graphOf(graphSchema.parse(jsonIn('graph.json', of)));
        expect(graphProblems(read)).toEqual([]);
        expect(textOf('graph.txt', of)).toBe(graphText(read));
        expect(textOf('graph.mmd', of)).toBe(graphMermaid(read));
        expect(JSON.stringify(read)).not.toContain('"model":null');
        const withoutModels = (text: string) => text.replace(/ +model: .*\n/g, '');
        expect(withoutModels(graphText(read))).toBe(withoutModels(graphText(found)));
      }),
    );
  });

  test('has prompts by step, results, and a line for each candidate', () => {
    expect(jsonIn('best_prompt.json')).toEqual({
      job_id: 'graph_1',
      candidate_id: 'cand_1_4',
      reward: 0.75,
      steps: {
        solve: { model: 'big', messages: user('Do it. {{question}}') },
        check: { model: 'small', messages: user('Do it. {{question}}') },
        best: { model: 'big', messages: judge.messages },
      },
    });
    expect(jsonIn('results.json')).toEqual({ job_id: 'graph_1', candidate_id: 'cand_1_4', ...exported.results });
    const lines = textOf('candidates.jsonl').split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual(exported.candidates);
    expect(textOf('candidates.jsonl', { ...exported, candidates: [] })).toBe('');
  });

  test('says in its README what to type and what it was found with', () => {
    const readme = textOf('README.md');
    expect(readme).toContain('4 steps from an input to one output, at most 5 model calls a run');
    expect(readme).toContain(`echo '{"question":"…"}' | python run.py -`);
    expect(readme).toContain('python run.py --text "…"');
    expect(readme).toContain('scored 0.75');
    for (const name of names.filter((name) => name !== 'README.md')) expect(readme).toContain(`\`${name}\``);
    const two = textOf('README.md', { ...exported, reward: null, graph: { ...graph, inputs: ["what's", 'question'] } });
    expect(two).toContain(`echo '{"what'\\''s":"…","question":"…"}' | python run.py -`);
    expect(two).not.toContain('--text');
    expect(two).not.toContain('scored');
  });
});

(noPython ? describe.skip : describe)(`Python's zipfile${noPython ? ' (skipped: there is no python3)' : ''}`, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ratchet-archive-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('opens an archive: nothing is broken or compressed, and one file is a program', async () => {
    writeFileSync(join(folder, 'graph.zip'), (await graphArchive(exported)).bytes);
    const script = `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps([[i.filename, oct(i.external_attr >> 16), i.compress_type, i.date_time] for i in archive.infolist()]))`;
    const found = JSON.parse(execFileSync('python3', ['-c', script, join(folder, 'graph.zip')], { encoding: 'utf8' }));
    const epoch = [1980, 1, 1, 0, 0, 0];
    expect(found).toEqual(names.map((name) => [name, name === 'run.py' ? '0o100755' : '0o100644', 0, epoch]));
  });
});

test('a file of many megabytes is put in whole', async () => {
  const bytes = Buffer.alloc(20_000_000, 'a line of a candidate\n');
  const [entry] = await unzip(await zipOf([{ name: 'candidates.jsonl', bytes }]));
  expect(sha256(Buffer.from(entry!.text))).toBe(sha256(bytes));
});
